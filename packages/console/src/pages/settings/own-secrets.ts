import type { OwnSecrets, Server } from '@strongroom/sdk'
import { type Device, installationId, knownDevice } from '../../session/device.ts'
import { KeyError } from '../../session/key-questions.ts'

export const thisServer = (): Server => ({ baseUrl: location.origin, deviceInstallationId: installationId() })

/** This device, which keeps the device secret; whoever is signed in here has come in with it. */
export async function thisDevice(email: string): Promise<Device> {
  const device = await knownDevice()
  if (device?.email === email) return device
  throw new KeyError({
    code: 'device_unknown',
    message: 'this browser does not keep your device secret',
    hint: 'Sign out and in again with your recovery kit at hand.',
  })
}

/** What proves that it is still the same person: the passphrase of now, with the device secret of this browser. */
export const ownSecrets = async (email: string, passphrase: string): Promise<OwnSecrets> => ({
  passphrase,
  deviceSecret: (await thisDevice(email)).deviceSecret,
})

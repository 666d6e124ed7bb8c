interface Policy {
  createScriptURL(url: string): string
}
interface TrustedTypes {
  createPolicy(name: string, rules: Policy): Policy
}
const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
// The only scripts that this page starts by their address are its own workers.
const policy = trustedTypes?.createPolicy('strongroom-worker', {
  createScriptURL: (url) => {
    if (new URL(url, location.href).origin !== location.origin) throw new TypeError('not a script of this console')
    return url
  },
})

/** An address that a worker may be started from. */
export const workerAddress = (url: string): string => policy?.createScriptURL(url) ?? url

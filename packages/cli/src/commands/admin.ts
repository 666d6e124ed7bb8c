import type { Group } from '../model/command.ts'
import { backup, restore } from './admin/archive.ts'
import { catalogue } from './admin/catalogue.ts'
import { globalAdminKey, orgs } from './admin/keys.ts'
import { licenseReview, rotateIssuerKey } from './admin/licenses.ts'
import { setupToken } from './admin/setup-token.ts'
import { rotateRootKey, upgradeCheck } from './admin/upkeep.ts'

export const admin: Group = {
  summary: 'the server itself: on its host, with its data; nobody signs in',
  verbs: {
    backup,
    restore,
    'upgrade-check': upgradeCheck,
    'rotate-root-key': rotateRootKey,
    'setup-token': setupToken,
    'global-admin-key': globalAdminKey,
    'license-review': licenseReview,
    'rotate-issuer-key': rotateIssuerKey,
    orgs,
    catalogue,
  },
}

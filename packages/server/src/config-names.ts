// Every variable of ours there is. One that is mistyped is passed over by whoever should read it, and a server beside the database or the
// key that was meant for it looks like a new one: so it is named at the start.

const OF_THE_SERVER = `ATTACHMENT_BYTES ATTACHMENT_BYTES_PER_ORG ATTACHMENT_BYTES_PER_VAULT CATALOGUE CHAIN_ASSETS CHAIN_CONFIRMATIONS
  CHAIN_ID CHAIN_RPC CHAIN_XPUB DATA DNS_RESOLVER EGRESS_ALLOW HOST HOSTS LOG_LEVEL LOW_BALANCE METRICS_TOKEN MIGRATION_URL
  NAME_SERVERS POOL_SIZE PORT POWERDNS_KEY POWERDNS_URL ROOT_KEY ROOT_KEY_FILE S3_ACCESS_KEY_ID S3_BUCKET S3_ENDPOINT S3_PREFIX
  S3_REGION S3_SECRET_ACCESS_KEY TRUSTED_PROXIES`
/** The command line and the SDK may be used from the same environment. */
const OF_CLIENTS = `ACCESS_TOKEN ACCESS_TOKEN_FILE AGENT_MODE API_KEY API_KEY_FILE BEHIND_REAPER BUNDLE BUNDLE_FILE CACHE_DIR CONFIG_DIR ENV
  FRESH KEY_STORE MAX_AGE MAX_RETRIES NO_INPUT OFFLINE OUTPUT PASSPHRASE PASSPHRASE_FILE PRIVATE_KEY PRIVATE_KEY_FILE PROFILE PROJECT
  SERVER SERVER_FILE SETUP_TOKEN SETUP_TOKEN_FILE TESTS_BEGAN TRUST_ANCHOR TRUST_ANCHOR_FILE TRUST_STORE VAULT WEBHOOK_SECRET`

const PREFIX = 'STRONGROOM_'
const KNOWN = new Set(`${OF_THE_SERVER} ${OF_CLIENTS}`.split(/\s+/).map((name) => PREFIX + name))

/** Variables that are set, have our prefix, and that nothing of ours reads. */
export const unknownNames = (env: NodeJS.ProcessEnv): readonly string[] =>
  Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !KNOWN.has(name))
    .sort()

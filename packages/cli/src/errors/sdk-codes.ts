import { type CodeEntry, EXIT } from './codes.ts'

// What the SDK refuses with by itself, under codes that neither the API nor the protocol has; the exit code goes by the code here,
// because the kind of such an error says less.

export const SDK_CODES: Readonly<Record<string, CodeEntry>> = {
  aborted: { exitCode: EXIT.interrupted, about: 'The call was ended before it was done.' },
  ambiguous_reference: { exitCode: EXIT.notFound, about: 'Several things have this name. Use an id.' },
  api_key_in_browser: { exitCode: EXIT.invalid, about: 'An API key in a page belongs to whoever opens the page.' },
  bundle_invalid: {
    exitCode: EXIT.signIn,
    about:
      'The bundle cannot be used. Copy it whole, from srb1. on and without spaces or quotes, or ask for a new one.',
  },
  client_error: { exitCode: EXIT.unexpected, about: 'Something failed in the client itself.' },
  config_conflict: {
    exitCode: EXIT.invalid,
    about: 'Two settings contradict each other, such as a bundle and an API key.',
  },
  config_invalid: { exitCode: EXIT.invalid, about: 'A setting cannot be understood. The message names it.' },
  config_missing: { exitCode: EXIT.signIn, about: 'Something the client needs was not given. The message names it.' },
  connection_failed: { exitCode: EXIT.unavailable, about: 'No answer came from the server, or not one of ours.' },
  file_failed: { exitCode: EXIT.invalid, about: 'A file could not be read or written.' },
  funding_cancelled: {
    exitCode: EXIT.money,
    about: 'The funding intent was cancelled. A payment is credited all the same.',
  },
  funding_expired: {
    exitCode: EXIT.money,
    about: 'No payment came before the funding intent expired. One that comes later is credited all the same.',
  },
  funding_in_review: {
    exitCode: EXIT.money,
    about: 'A payment came in another token, or the chain took it back. The operator looks at it.',
  },
  funding_incomplete: {
    exitCode: EXIT.money,
    about: 'Less was paid than the funding intent asked for. What came is credited, and so is what follows.',
  },
  license_item_unmarked: {
    exitCode: EXIT.unverified,
    about:
      'Which item is that of a licence only the server says, and the item itself does not: it was put into its vault by another client, or changed since. Use the vault: strongroom run --vault NAME.',
  },
  licenses_not_sold: {
    exitCode: EXIT.invalid,
    about: 'The server publishes no key that it signs hand-offs of licences with. Ask its operator.',
  },
  not_cached: {
    exitCode: EXIT.unavailable,
    about: 'The server cannot be reached, and what was asked for was never read here before, or has changed since.',
  },
  outcome_unknown: {
    exitCode: EXIT.unavailable,
    about:
      'No answer came to a change that was sent. It may have been made: look before you repeat it. Under the same idempotency key (details) it is made once; license buy says how to repeat it.',
  },
  principal_changed: {
    exitCode: EXIT.unverified,
    about:
      'The server says that you are somebody else than your keys say. Check the address of the server and the API key.',
  },
  purchase_cancelled: {
    exitCode: EXIT.failedPurchase,
    about: 'Nothing came of the purchase, and what was held for it is free again. Buy it again if it is still wanted.',
  },
  purchase_failed: {
    exitCode: EXIT.failedPurchase,
    about: 'The purchase has stopped, and can be resumed for a while: strongroom license resume ID.',
  },
  purchase_in_review: {
    exitCode: EXIT.failedPurchase,
    about:
      'Nobody knows what the provider has done, so the operator has to look at it. The price stays held until then.',
  },
  redirect_refused: {
    exitCode: EXIT.unavailable,
    about: 'The server answered with a redirect, and credentials are not carried to another address.',
  },
  reference_invalid: { exitCode: EXIT.invalid, about: 'This is no reference to a secret. Write vault/item/FIELD.' },
  sealed_to_another_key: {
    exitCode: EXIT.denied,
    about:
      'What was bought was sealed to another key of yours than the one in use here. Take it over where that key is: strongroom license handoff ID.',
  },
  secret_already_shown: {
    exitCode: EXIT.invalid,
    about: 'A secret is shown once, and this call was answered before. Make a new one.',
  },
  secret_disposed: { exitCode: EXIT.unexpected, about: 'A value was used after it was wiped from memory.' },
  secret_not_text: {
    exitCode: EXIT.invalid,
    about: 'The value is not text. Read it into a file: strongroom read REF --out FILE.',
  },
  termination_failed: {
    exitCode: EXIT.failedPurchase,
    about: 'The licence could not be ended; try again with: strongroom license resume ID.',
  },
  termination_in_review: {
    exitCode: EXIT.failedPurchase,
    about: 'Nobody knows whether the provider has ended the licence, so the operator has to look at it.',
  },
  trust_store_failed: {
    exitCode: EXIT.invalid,
    about:
      'What this machine has seen and pinned could not be read or written; the message names the file, and says so where a change was made all the same. Free space or correct the permissions. A damaged file: restore it from a backup, or remove it deliberately and sign in again with the trust anchor; what was seen before is then forgotten.',
  },
  unexpected_answer: {
    exitCode: EXIT.unavailable,
    about: 'What answered is not a Strongroom server, or one of another version.',
  },
  value_too_large: {
    exitCode: EXIT.invalid,
    about: 'A value is larger than 64 KiB. Store it as a file: strongroom file put.',
  },
}

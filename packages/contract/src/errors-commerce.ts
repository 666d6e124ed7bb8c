import type { ErrorEntry } from './errors.ts'

const entry = (status: number, message: string, hint: string): ErrorEntry => ({ status, message, hint })

/** The codes of everything that has to do with money, licences, webhooks and domains. */
export const COMMERCE_ERRORS = {
  insufficient_credit: entry(
    402,
    'The credit of the organisation does not cover this.',
    'Add credit; details name what is available and what is missing.',
  ),
  budget_exceeded: entry(
    402,
    'A budget has no room for this.',
    'Wait until it resets, or ask who manages it; details name the budget to who may read budgets.',
  ),
  budget_transaction_limit: entry(
    402,
    'This is more than a budget allows at once.',
    'Buy something smaller, or ask who manages the budget; details name it to who may read budgets.',
  ),
  budget_subject_not_found: entry(
    404,
    'There is no such organisation, tenant, user or agent, or it is not visible to you.',
    'List agents, users or tenants first.',
  ),
  budget_not_found: entry(
    404,
    'There is no such budget, or it is not visible to you.',
    'List budgets with GET /budget.',
  ),
  budget_conflict: entry(409, 'The budget has changed since it was read.', 'Read it again and send its version.'),
  budget_window_invalid: entry(
    422,
    'A window of the budget does not make sense.',
    'Details name the window and what is wrong with it.',
  ),
  invalid_month: entry(422, 'There are no charges of that month yet.', 'Ask for this month or an earlier one.'),
  // Licences.
  license_not_found: entry(
    404,
    'There is no such licence in the catalogue.',
    'Search for licences, and send its slug.',
  ),
  license_not_eligible: entry(
    403,
    'This licence is not offered to the tenant of the caller.',
    'Buy it with a key of another tenant, or ask the operator.',
  ),
  license_unavailable: entry(409, 'This licence cannot be bought at present.', 'Try another one, or later.'),
  license_instance_not_found: entry(
    404,
    'There is no such licence, or it is not visible to you.',
    'List licences with GET /licenses.',
  ),
  catalogue_offer_in_file: entry(
    409,
    'This licence is written down in the catalogue file of the operator.',
    'Change it there, and start the server anew.',
  ),
  catalogue_offer_invalid: entry(422, 'This licence cannot be sold like this.', 'Details name what is wrong with it.'),
  license_handoff_pending: entry(
    409,
    'The credential of this licence has not been put into a vault yet.',
    'Its buyer completes the hand-off; read the status of the purchase.',
  ),
  license_terminated: entry(410, 'This licence has ended.', 'Buy it again, if it is still needed.'),
  purchase_not_found: entry(
    404,
    'There is no such purchase, or it is not visible to you.',
    'Use the purchaseId that the purchase was answered with.',
  ),
  purchase_not_resumable: entry(
    409,
    'Only a purchase that failed can be resumed.',
    'Read its status: nextAction says what to do.',
  ),
  resume_window_expired: entry(409, 'This purchase can no longer be resumed.', 'Buy the licence again.'),
  quote_expired: entry(
    409,
    'The price is no longer the one that was quoted.',
    'Ask for a new quote, and decide again.',
  ),
  billing_not_ready: entry(
    409,
    'Something is missing before anything can be bought.',
    'Details name each check and what to do; see GET /billing/readiness.',
  ),
  recipient_key_missing: entry(
    409,
    'The caller has no key that a credential could be sealed to.',
    'Details name who. An agent registers its key, and its manager signs for that: strongroom agent pending. A person: strongroom key list.',
  ),
  provisioner_not_named: entry(
    409,
    'The policy of the organisation does not name the provisioning key of this server.',
    'A directory administrator names it: strongroom license enable.',
  ),
  vault_destination_invalid: entry(
    422,
    'The credential of this purchase cannot go into this vault.',
    'Use the vault, or the name of the new vault, that the purchase names; an RSA-only key needs a vault that is there.',
  ),
  handoff_not_ready: entry(
    409,
    'There is nothing to hand over for this purchase now.',
    'Read its status: nextAction says what to do.',
  ),
  handoff_already_completed: entry(
    409,
    'The credential of this purchase lies in another item already.',
    'Read the status of the purchase: it names the item.',
  ),
  handoff_schema_mismatch: entry(
    422,
    'The item does not have exactly the fields that were bought.',
    'Give it the labels and flags of `schema` in the status of the purchase.',
  ),
  handoff_signature_invalid: entry(
    422,
    'The receipt is not signed by the key that the credential was sealed to, or is about something else.',
    'Sign a receipt over this hand-off and this item with the key it was sealed to.',
  ),
  termination_not_found: entry(
    404,
    'There is no such termination, or it is not visible to you.',
    'Use the terminationId that the termination was answered with.',
  ),
  termination_in_progress: entry(
    409,
    'This licence is being ended already, in another way.',
    'Details name the termination; read its status.',
  ),
  termination_not_resumable: entry(
    409,
    'Only a termination that failed can be resumed.',
    'Read its status: nextAction says what to do.',
  ),
  sandbox_not_on: entry(409, 'The operator sells real licences here; there is no test credit.', 'Add credit.'),
  sandbox_credit_granted: entry(409, 'The organisation has had its test credit.', 'Add credit, or use what is left.'),
  domain_not_managed: entry(
    403,
    'The domain belongs to the organisation, but is not managed here.',
    'Ask who runs its DNS, or have an administrator manage it here.',
  ),
  domain_not_found: entry(404, 'The organisation has no such domain.', 'Ask an administrator to add it.'),
  domain_taken: entry(
    409,
    'The domain is there already, or is managed by somebody else here.',
    'Choose another domain.',
  ),
  records_changed: entry(
    409,
    'Somebody has changed the records since they were read.',
    'Read them again, and make the change once more.',
  ),
  invalid_domain: entry(422, 'This is not the name of a domain.', 'Write it like example.com.'),
  invalid_record: entry(422, 'A record cannot be kept as it is.', 'Details name the record and what is wrong with it.'),
  dns_unavailable: entry(503, 'The name server cannot be asked.', 'Wait as Retry-After says; tell the operator.'),
  // Webhooks.
  webhook_not_found: entry(
    404,
    'There is no such webhook endpoint, or it belongs to another key.',
    'List endpoints with GET /webhook.',
  ),
  webhook_delivery_not_found: entry(
    404,
    'There is no such delivery to this endpoint.',
    'List deliveries with GET /webhook/:id/deliveries; they are kept for 30 days.',
  ),
  webhook_url_invalid: entry(422, 'This is no address that can be sent to.', 'Write it out: https://host/path.'),
  webhook_url_forbidden: entry(
    422,
    'This server does not send to this address.',
    'Use https to a public host on port 443 or above 1023. The operator can allow networks with STRONGROOM_EGRESS_ALLOW.',
  ),
  webhook_event_type_unknown: entry(
    422,
    'There is no such type of event.',
    'See GET /webhook/event-types; details name what is unknown.',
  ),
  webhook_limit_reached: entry(409, 'This key has as many endpoints as it can have.', 'Delete one that is not needed.'),
  webhook_disabled: entry(409, 'This endpoint is disabled.', 'Enable it first: PATCH /webhook/:id with status active.'),
  webhook_has_no_secret: entry(
    409,
    'This endpoint is signed for with the key of the organisation; there is no secret to rotate.',
    'Verify deliveries with its publicKey.',
  ),
  // Funding.
  billing_rail_not_configured: entry(
    409,
    'This way of paying is not configured on this server.',
    'Pay in another way, or ask the operator; see GET /billing/readiness.',
  ),
  funding_asset_unsupported: entry(422, 'This asset is not taken here.', 'Send the symbol of one that details name.'),
  funding_amount_out_of_range: entry(
    422,
    'The amount is too small or too large for one intent.',
    'Details name the least and the most, in micro-units.',
  ),
  funding_intent_limit: entry(
    409,
    'The organisation has too many funding intents.',
    'Pay one of them, or cancel those that are not needed; details name how many may wait, and be made in a day.',
  ),
  funding_intent_not_found: entry(
    404,
    'There is no such funding intent, or it is not visible to you.',
    'List them with GET /billing/crypto-funding-intents.',
  ),
  funding_intent_not_cancellable: entry(
    409,
    'Only a funding intent that waits for its payment can be cancelled.',
    'Read its status; what was paid is credited.',
  ),
  chain_unavailable: entry(503, 'The chain cannot be read at present, so no address is given out.', 'Try again later.'),
} as const satisfies Record<string, ErrorEntry>

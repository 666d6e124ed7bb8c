import { principalOf } from '@strongroom/protocol'
import { keyWords, type Purchase } from '@strongroom/sdk'
import type { LinkProps } from '@tanstack/react-router'
import type { Tone } from '../../ui/status.tsx'
import type { Names } from '../activity/filter-tokens.ts'
import { counted } from '../agents/blast-radius.ts'
import { windowWords } from '../billing/budget-windows.ts'
import { moneyText } from '../billing/money.tsx'
import { acceptedKey } from '../people/queries.ts'
import type { Need } from './queries.ts'

// The same words wherever something waits: what it is, what deciding it does, and where it is looked at.

export interface Told {
  readonly tone: Tone
  readonly word: string
  readonly words: string
  /** What a decision brings, exactly. */
  readonly effect: string
  readonly link: LinkProps
  readonly since: Date | string | null
}

type Of<K extends Need['kind']> = Extract<Need, { readonly kind: K }>

const hostOf = (url: string): string => URL.parse(url)?.host ?? url

function purchaseEffect({ state, price, failure }: Purchase): string {
  if (state === 'in_review') return `The operator looks at it; ${moneyText(price)} stays held until then.`
  if (state !== 'failed') return `${moneyText(price)}: its credential is opened, encrypted and signed in this browser.`
  const then = failure?.resumable
    ? `Resumed, it goes on from what the provider and the ledger say.`
    : 'Nothing is owed for it.'
  return `${failure?.message ?? 'It has stopped'}. ${then}`
}

function purchaseWords({ purchase }: Of<'purchase'>): Told {
  const { id, name, state, history } = purchase
  const words = { failed: 'failed', in_review: 'is in review' }[state as string] ?? 'waits to be put into a vault'
  return {
    tone: state === 'failed' ? 'bad' : 'money',
    word: 'purchase',
    words: `${name} ${words}`,
    effect: purchaseEffect(purchase),
    link: { to: '/licenses/purchases/$purchaseId', params: { purchaseId: id } },
    since: history.at(-1)?.at ?? null,
  }
}

function webhookWords({ endpoint }: Of<'webhook'>): Told {
  const { webhookId, url, status, failingSince, disabledAt } = endpoint
  const isOff = status === 'disabled'
  return {
    tone: 'bad',
    word: 'webhook',
    words: `${hostOf(url)} ${isOff ? 'was switched off, nothing reaches it' : 'is failing'}`,
    effect: isOff
      ? 'Enabled again, it hears what happens from then on.'
      : 'It is tried again by itself, at longer and longer intervals.',
    link: { to: '/webhooks/$webhookId', params: { webhookId } },
    since: failingSince ?? disabledAt,
  }
}

function budgetWords({ budget }: Of<'budget'>, names: Names): Told {
  const { name, subjectType, subjectId, activeWindows } = budget
  const subject = subjectType === 'org' ? 'the organisation' : names.subject({ type: subjectType, id: subjectId })
  const window = activeWindows.find(({ remaining }) => BigInt(remaining.amount) <= 0n)
  const limit = window ? `${moneyText(window.limit)} ${windowWords(window, new Date())}` : 'its limit'
  return {
    tone: 'money',
    word: 'budget',
    words: `${name === '' ? `The budget of ${subject}` : name}: nothing is left`,
    effect: `${subject} cannot buy anything beyond ${limit} until it is raised or begins anew.`,
    link: { to: '/billing/budgets' },
    since: null,
  }
}

function inviteWords({ invite }: Of<'invite'>): Told {
  const key = acceptedKey(invite)
  return {
    tone: 'warn',
    word: 'new signer',
    words: `${invite.name || invite.email} accepted an invite and waits for a signature`,
    effect: `Signed, ${key === undefined ? 'their key' : `the key ${keyWords(key)}`} counts as theirs in the log.`,
    link: { to: '/people/invites' },
    since: invite.createdAt,
  }
}

function agentKeyWords({ pending: { keyId, agentId, requestedAt } }: Of<'agent key'>, names: Names): Told {
  return {
    tone: 'warn',
    word: 'new signer',
    words: `${names.person(`agent:${agentId}`)} asks you to endorse its key`,
    effect: `Signed, ${keyWords(keyId)} can be given vaults; you choose which.`,
    link: { to: '/agents/$agentId/keys', params: { agentId } },
    since: requestedAt,
  }
}

function vaultKeyWords({ vault: { vaultId, name, itemCount, rotationDue } }: Of<'vault key'>): Told {
  return {
    tone: 'warn',
    word: 'vault key',
    words: `${name}: a former reader still holds its key`,
    effect: `Rotated, ${counted(itemCount, 'item')} and their files are encrypted anew; the old key opens nothing new.`,
    link: { to: '/vaults/$vaultId/keys', params: { vaultId } },
    since: rotationDue,
  }
}

export function needWords(need: Need, names: Names): Told {
  switch (need.kind) {
    case 'purchase':
      return purchaseWords(need)
    case 'webhook':
      return webhookWords(need)
    case 'budget':
      return budgetWords(need, names)
    case 'invite':
      return inviteWords(need)
    case 'agent key':
      return agentKeyWords(need, names)
    case 'vault key':
      return vaultKeyWords(need)
    case 'signer':
      return {
        tone: 'warn',
        word: 'signer changed',
        words: `${names.person(principalOf(need.id))} recovered with a new key: ${keyWords(need.id)}`,
        effect: 'Compared with its owner, it counts as known in this browser.',
        link: { to: '/transparency/signers' },
        since: null,
      }
    case 'unused':
      return {
        tone: 'quiet',
        word: 'unused',
        words: `${need.agent.name} has done nothing for 90 days`,
        effect: 'Its key still opens what it was given. Archived, it is dead from the next request on.',
        link: { to: '/agents/$agentId', params: { agentId: need.agent.agentId } },
        since: need.agent.createdAt,
      }
  }
}

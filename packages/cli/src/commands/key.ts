import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/codes.ts'
import { fingerprintOf, inFours, keysOf, ownerOf, typedFingerprint } from '../keys/own-key.ts'
import { arg, command, flag, type Group } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { facts, table } from '../output/table.ts'
import { shortTime } from '../output/time.ts'
import { withProgress } from '../prompt/progress.ts'
import { caps } from './key-caps.ts'

const shapes = () => import('../schemas/key.ts')
const WHO = arg.maybe('name, email or id of a person or an agent; you if not given', { completes: 'agent' })

const list = command({
  summary: 'all keys somebody ever had, from the log',
  about: 'The whole log is read and verified for it, so no key can be left out and none can be slipped in.',
  args: { who: WHO },
  flags: {},
  examples: [
    { run: 'strongroom key list', does: 'your own' },
    { run: 'strongroom key list checkout-bot', does: 'those of an agent' },
  ],
  next: 'strongroom key fingerprint NAME',
  output: async () => (await shapes()).keysShape,
  run: async (cli, { args }) => {
    const { keyWords } = await import('@strongroom/sdk')
    const owner = await ownerOf(cli, args.who)
    const keys = await keysOf(cli, owner)
    if (keys.length === 0) cli.say(`${owner.name} has no key in the log`)
    const rows = keys.map(({ keyId, status, added, ended }) => ({
      keyId,
      words: keyWords(keyId),
      status,
      addedAt: added.at.toISOString(),
      endedAt: ended?.at.toISOString() ?? null,
    }))
    const text = table(
      rows,
      [
        { title: 'KEY', of: ({ keyId }) => keyId },
        { title: 'WORDS', of: ({ words }) => words },
        { title: 'STATUS', of: ({ status }) => status },
        { title: 'SINCE', of: ({ addedAt }) => shortTime(addedAt) },
        { title: 'UNTIL', of: ({ endedAt }) => (endedAt === null ? undefined : shortTime(endedAt)) },
      ],
      cli.style,
    )
    return { data: rows, meta: { principal: owner.id }, ...(rows.length > 0 && { text }) }
  },
})

const fingerprint = command({
  summary: 'what to read aloud when somebody wants to be sure of a key',
  about:
    'The words tell keys apart at a glance, and are the same on every screen; whoever wants to can make a key with the same words. The fingerprint is what counts: compare all of it before you sign for a key.',
  args: { who: WHO },
  flags: {},
  examples: [{ run: 'strongroom key fingerprint checkout-bot', does: 'of the keys that count now' }],
  next: 'strongroom key verify NAME FINGERPRINT   on the other machine',
  output: async () => (await shapes()).fingerprintsShape,
  run: async (cli, { args }) => {
    const { keyWords } = await import('@strongroom/sdk')
    const owner = await ownerOf(cli, args.who)
    const active = (await keysOf(cli, owner)).filter(({ status }) => status === 'active')
    if (active.length === 0)
      throw new CliError('key_not_found', `${owner.name} has no key that counts`, { fix: 'strongroom agent pending' })
    const rows = active.map(({ keyId }) => ({
      principal: owner.id,
      keyId,
      words: keyWords(keyId),
      fingerprint: fingerprintOf(keyId),
    }))
    const text = rows.map((row) =>
      facts(
        [
          ['whose', `${safeText(owner.name)} (${owner.id})`],
          ['words', row.words],
          ['fingerprint', inFours(row.fingerprint)],
        ],
        cli.style,
      ),
    )
    return { data: rows, text: text.join('\n\n') }
  },
})

const verify = command({
  summary: 'is this fingerprint that of a key that counts',
  about:
    'Compares what its owner told you over another channel with what the log says. Exit code 9 where they differ: then somebody stands between you.',
  args: {
    who: arg.one('name, email or id of a person or an agent', { completes: 'agent' }),
    fingerprint: arg.rest('as its owner told you: a key id or a fingerprint, with or without gaps'),
  },
  flags: {},
  examples: [
    { run: 'strongroom key verify checkout-bot u4wq tz5r …', does: 'pasted or typed off, gaps do not matter' },
  ],
  next: 'strongroom trust pin KEY_ID',
  output: async () => (await shapes()).verifiedShape,
  run: async (cli, { args }) => {
    const typed = typedFingerprint(args.fingerprint.join(''))
    if (!/^[a-z2-7]{32}$/.test(typed))
      throw new CliError('usage', 'a fingerprint has 32 letters and digits from 2 to 7', {
        fix: 'ask for all of it; words are not enough',
      })
    const owner = await ownerOf(cli, args.who)
    const keys = await keysOf(cli, owner)
    const found = keys.find(({ keyId }) => fingerprintOf(keyId) === typed)
    const matches = found?.status === 'active'
    const data = { principal: owner.id, matches, keyId: found?.keyId ?? null, status: found?.status ?? null }
    const text = matches
      ? `${cli.style.good('✓')} this is the key of ${safeText(owner.name)}   ${found.keyId}`
      : found
        ? `${cli.style.bad('✗')} this was a key of ${safeText(owner.name)}, and it has ended: ${found.status}`
        : `${cli.style.bad('✗')} this is no key of ${safeText(owner.name)}; do not sign for it, and ask again over another channel`
    return { data, text, exitCode: matches ? EXIT.ok : EXIT.unverified }
  },
})

const rotate = command({
  summary: 'another key for yourself, linked to the old one in the log',
  about:
    'Every vault key the old key holds is wrapped for the new one in the same step; the log refuses a batch that lacks one. There is a new recovery kit; the old one opens nothing any more. Agents: strongroom agent rotate-runtime-key.',
  args: {},
  flags: {
    'passphrase-file': flag.text('file with your passphrase, - for standard input', 'FILE', { completes: 'file' }),
    kit: flag.text('where the new recovery kit is written', 'FILE', { completes: 'file' }),
  },
  examples: [{ run: 'strongroom key rotate', does: 'asks for your passphrase' }],
  next: 'strongroom login   on your other machines',
  output: async () => (await shapes()).rotatedShape,
  run: async (cli, { flags }) => (await import('../keys/rotate-own.ts')).rotateOwnKey(cli, flags),
})

const due = command({
  summary: 'vaults that wait for a new key, or to be encrypted anew',
  about:
    'A vault waits for a new key where a former reader still holds the one in use, and to be encrypted anew where values are still under older keys. Both are read in the signed state of each vault that you see.',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom key due', does: 'names, since when, and what to do' }],
  next: 'strongroom vault rotate NAME',
  output: async () => (await shapes()).dueShape,
  run: async (cli) => (await import('../keys/due.ts')).showDue(cli),
})

const reencrypt = command({
  summary: 'encrypt anew what is still under older keys of a vault',
  about:
    'Goes on where `strongroom vault rotate` was cut off; when nothing is left under the older keys they end. It makes no new key.',
  args: { vault: arg.one('name or id of a vault', { completes: 'vault' }) },
  flags: {},
  examples: [{ run: 'strongroom key reencrypt prod', does: 'changes nothing where nothing waits' }],
  next: 'strongroom verify',
  output: async () => (await shapes()).reencryptedShape,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    const done = await withProgress(cli, `encrypting ${args.vault} anew`, (progress) =>
      strongroom.vaults.reencrypt(args.vault, {
        signal: cli.signal,
        onProgress: (count, total) => progress.update(`encrypting ${args.vault} anew: ${count} of ${total} items`),
      }),
    )
    const { fields, items, attachments } = done
    return {
      data: { vault: args.vault, ...done },
      text:
        fields + attachments === 0
          ? `${cli.style.good('✓')} everything in ${args.vault} is under its newest key`
          : `${cli.style.good('✓')} ${fields} values in ${items} items and ${attachments} files are under the newest key now`,
    }
  },
})

export const key: Group = {
  summary: 'keys of people and agents, as the log has them',
  verbs: { list, fingerprint, verify, caps, rotate, due, reencrypt },
}

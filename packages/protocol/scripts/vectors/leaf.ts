import type { ProtocolErrorCode } from '../../src/errors.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { base64url, hex, logLeaf, sha256, utf8 } from './reference.ts'

// Section 5.1: the bytes of a leaf.

const hash = (text: string): string => base64url(sha256(utf8(text)))
const [ROOT, OLD, NEW] = [hash('root'), hash('old'), hash('new')]
type Update = readonly [string, string, string]

interface Content {
  readonly t: string
  readonly d: readonly string[]
  readonly u: readonly Update[]
  readonly r: string
  readonly at: number
}
const CONTENT: Content = {
  t: 'vault.commit',
  d: [hash('b'), hash('a')],
  u: [
    ['vault/vb', OLD, NEW],
    ['vault/va', '', NEW],
  ],
  r: ROOT,
  at: 1_767_225_600_000,
}
const INLINE = 128

/** The canonical text of a list of texts or of lists of texts is what JSON.stringify gives; all of these are ASCII. */
function leafText({ t, d, u, r, at }: Content): { text: string; documents?: string; updates?: string } {
  const documents = JSON.stringify([...d].sort())
  const updates = JSON.stringify([...u].sort((a, b) => (a[0] < b[0] ? -1 : 1)))
  const named = d.length > INLINE ? { dh: hash(documents) } : { d: JSON.parse(documents) }
  const changed = u.length > INLINE ? { uh: hash(updates) } : { u: JSON.parse(updates) }
  const members = { v: 3, t, r, at, ...named, ...changed }
  const text = JSON.stringify(Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1))))
  return { text, ...(d.length > INLINE && { documents }), ...(u.length > INLINE && { updates }) }
}

const makes = (name: string, content: Content): VectorCase => {
  const { text, ...lists } = leafText(content)
  return accepts('make', name, content, { text, leafHash: hex(logLeaf(utf8(text))), ...lists })
}
const parses = (name: string, content: Content): VectorCase => {
  const { text, documents, updates } = leafText(content)
  const lists = { ...(documents && { documents }), ...(updates && { updates }) }
  const { t, r, at } = content
  const d = [...content.d].sort()
  const u = [...content.u].sort((a, b) => (a[0] < b[0] ? -1 : 1))
  return accepts('parse', name, { text, ...lists }, { t, r, at, d, u })
}

const many = (count: number): Content => ({
  ...CONTENT,
  d: Array.from({ length: count }, (_, i) => hash(`document ${i}`)),
  u: Array.from({ length: count }, (_, i): Update => [`grant/v/k/${i}`, '', NEW]),
})

const noMake = (name: string, change: Partial<Content>): VectorCase =>
  refuses('make', name, 'malformed', { ...CONTENT, ...change })

function refusedTexts(): VectorCase[] {
  const { text } = leafText(CONTENT)
  const no = (name: string, other: string, code: ProtocolErrorCode = 'malformed', lists: object = {}): VectorCase =>
    refuses('parse', name, code, { text: other, ...lists })
  const long = leafText(many(INLINE + 1))
  const short = JSON.stringify([hash('a')])
  const named = JSON.stringify({ at: 1, dh: hash(short), r: ROOT, t: 'key.add', u: [], v: 3 })
  return [
    no('another version', text.replace('"v":3', '"v":4')),
    no('no root', text.replace(`"r":"${ROOT}",`, '')),
    no('a root that is no hash', text.replace(ROOT, ROOT.slice(1))),
    no('a hash whose last character carries bits that are not there', text.replace(ROOT, `${ROOT.slice(0, -1)}B`)),
    no('a member too many', text.replace('"v":3', '"v":3,"w":1')),
    no('white space', text.replace('"v":3', '"v": 3')),
    no('documents in another order', text.replace(/\["([^"]+)","([^"]+)"\]/, '["$2","$1"]')),
    no('a document twice', text.replace(/\["([^"]+)","([^"]+)"\]/, '["$1","$1"]')),
    no('updates in another order', text.replace('vault/va', 'vault/vc')),
    no('a name twice', text.replace('vault/va', 'vault/vb')),
    no('a name of another form', text.replace('vault/va', 'Vault/va')),
    no('an empty new value', text.replace(`"",${JSON.stringify(NEW)}`, '"",""')),
    no('a time that is no integer', text.replace('1767225600000', '1.5')),
    no('a type in upper case', text.replace('vault.commit', 'Vault.commit')),
    no('both a list and its hash', text.replace('"r":', `"dh":"${hash('x')}","r":`)),
    no('neither a list nor its hash', text.replace(/"d":\[[^\]]*\],/, '')),
    no('a list that is named and not served', long.text),
    no('another list than the named one', long.text, 'bad_inclusion', { documents: short, updates: long.updates }),
    no('a short list that is named by its hash', named, 'malformed', { documents: short }),
  ]
}

export const makeLeafVectors = (): VectorFile => ({
  vectors: 'leaf',
  section: '5.1',
  comment:
    'The canonical JSON of a leaf. make sorts its lists and moves those over 128 entries out of the leaf; parse takes the leaf and the lists that are served beside it.',
  cases: [
    makes('two documents, two updates', CONTENT),
    makes('no documents, no updates', { ...CONTENT, d: [], u: [] }),
    makes('128 of each', many(INLINE)),
    makes('129 of each', many(INLINE + 1)),
    parses('two documents, two updates', CONTENT),
    parses('129 of each', many(INLINE + 1)),
    parses('a time above 2^32', { ...CONTENT, at: 2 ** 53 - 1 }),
    noMake('a document twice', { d: [OLD, OLD] }),
    noMake('a name twice', {
      u: [
        ['vault/v', '', OLD],
        ['vault/v', '', NEW],
      ],
    }),
    noMake('a hash that is too short', { d: [OLD.slice(1)] }),
    noMake('a root that is no hash', { r: '' }),
    noMake('a name with a space', { u: [['vault/v 1', '', NEW]] }),
    ...refusedTexts(),
  ],
})

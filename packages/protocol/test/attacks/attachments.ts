import { type AssetRow, assetRowOf, openAssetName, verifyAsset } from '../../src/attachments/checkpoint.ts'
import { decryptAttachment } from '../../src/attachments/transfer.ts'
import { type Bytes, concat, utf8 } from '../../src/encoding/bytes.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { encodeMapProof, mapValue, proveMap } from '../../src/log/map.ts'
import type { Dek } from '../../src/values/dek.ts'
import { assetName, verifyAssetRow, verifyAssets } from '../../src/vault/rows.ts'
import { roleOf } from '../../src/vault/vault.ts'
import { ASSET_ITEM, type Attached, attach, sealAsset } from '../world/acts.ts'
import { ORG, type StoredVault, type World } from '../world/world.ts'
import type { Attack, Bench, Honest } from './attack.ts'
import { withKid } from './directory.ts'

// Rows 2, 18, 22 and 23: what an object store can do to a file, and what a dishonest writer can sign about one.

const SEGMENT = 1_048_576
const HEADER = 74
const FILE = new Uint8Array(2_300_000).map((_, index) => (index * 31) >> 5)

const rowsOf = (world: World): AssetRow[] => [...(world.vaults.get(world.prod) as StoredVault).content.assets.values()]

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 300_000) yield bytes.subarray(at, at + 300_000)
}

/** What a client needs of the server for one download. */
interface Download {
  readonly row: AssetRow
  readonly envelope: Envelope
  readonly ciphertext: Uint8Array
}

/** Row, checkpoint, key, content; the file appears under its name only when everything matched. */
export async function download(world: World, { client }: Bench, offered: Download): Promise<void> {
  const answer = await withKid(world, world.actors.bob.kid, world.actors.carol.kid)
  const head = await client.head(answer)
  const { directory } = head.vault
  const entries = rowsOf(world).map((row) => [assetName(row.assetId), mapValue(row)] as const)
  const proof = encodeMapProof(proveMap(entries, assetName(offered.row.assetId)))
  const asset = await verifyAsset({
    row: verifyAssetRow(head, offered.row, proof),
    envelope: offered.envelope,
    keyOf: directory.keyOf,
    authorise: async (kid) =>
      roleOf(head.vault, (await directory.signerAt(kid, head.vault.state.headIndex)).principal) !== 'read',
    org: ORG,
    vaultId: world.prod,
  })
  const keys = await client.unwrap(head, answer.wrappedKeys)
  const dek = keys.get(head.payload.dekVersion) as Dek
  const { name } = await openAssetName(dek, asset)
  const chunks: Uint8Array[] = []
  for await (const chunk of decryptAttachment({ dek, asset, source: pieces(offered.ciphertext) })) chunks.push(chunk)
  client.remember({ directory, heads: [head] })
  client.release(`${name} ${concat(...chunks).length}`)
}

export const offer = ({ envelope, ciphertext, place }: Attached): Download => ({
  row: assetRowOf(envelope, { place, itemId: ASSET_ITEM }),
  envelope,
  ciphertext,
})

async function attached(world: World, plaintext: Uint8Array = FILE, by = world.actors.bob): Promise<Attached> {
  const made = await sealAsset(world, plaintext, by)
  await attach(world, [made], by)
  return made
}

/** The object store gives out another ciphertext than was uploaded. */
const stored =
  (change: (ciphertext: Bytes, world: World) => Uint8Array | Promise<Uint8Array>) =>
  async (world: World, bench: Bench): Promise<unknown> => {
    const made = await attached(world)
    return download(world, bench, { ...offer(made), ciphertext: await change(made.ciphertext.slice(), world) })
  }

export const otherAsset = (world: World): Promise<Attached> =>
  sealAsset(world, utf8('other file!'), world.actors.bob, { assetId: 'ast_other' })

export const ATTACHMENTS_HONEST: readonly Honest[] = [
  {
    id: 'attachments-honest-download',
    theme: 'attachments',
    title: 'a file of three segments comes back, alone and among others',
    run: async (world, bench) => {
      const made = await attached(world)
      await attach(world, [await otherAsset(world)], world.actors.bob)
      await download(world, bench, offer(made))
      verifyAssets(await bench.client.head(await world.vaultAnswer(world.prod)), rowsOf(world))
    },
  },
]

export const ATTACHMENTS: readonly Attack[] = [
  {
    id: 'attachment-dropped',
    row: 3,
    title: 'an attachment left out of the list',
    code: 'assets_mismatch',
    run: async (world, { client }) => {
      await attached(world)
      return verifyAssets(await client.head(await world.vaultAnswer(world.prod)), [])
    },
  },
  {
    id: 'attachment-row-altered',
    row: 5,
    title: 'an archived attachment shown as one of another state',
    code: 'assets_mismatch',
    run: async (world, bench) => {
      const { row, ...rest } = offer(await attached(world))
      return download(world, bench, { ...rest, row: { ...row, status: 'archived' } })
    },
  },
  {
    id: 'attachment-checkpoint-of-other',
    row: 22,
    title: 'the checkpoint of another attachment',
    code: 'assets_mismatch',
    run: async (world, bench) => {
      const made = offer(await attached(world))
      return download(world, bench, { ...made, envelope: (await otherAsset(world)).envelope })
    },
  },
  {
    id: 'attachment-checkpoint-unsigned',
    row: 5,
    title: 'a checkpoint without its signature',
    code: 'missing_signature',
    run: async (world, bench) => {
      const made = offer(await attached(world))
      return download(world, bench, { ...made, envelope: { ...made.envelope, signatures: [] } })
    },
  },
  {
    id: 'attachment-bit',
    row: 22,
    title: 'one bit of a segment',
    code: 'aead',
    behindKeys: true,
    run: stored((ciphertext) => {
      ciphertext[HEADER + SEGMENT + 500] = (ciphertext[HEADER + SEGMENT + 500] as number) ^ 1
      return ciphertext
    }),
  },
  {
    id: 'attachment-segments-exchanged',
    row: 22,
    title: 'two segments exchanged',
    code: 'aead',
    behindKeys: true,
    run: stored((ciphertext) => {
      const [first, second] = [HEADER, HEADER + SEGMENT].map((at) => ciphertext.slice(at, at + SEGMENT))
      return concat(
        ciphertext.subarray(0, HEADER),
        second as Bytes,
        first as Bytes,
        ciphertext.subarray(HEADER + 2 * SEGMENT),
      )
    }),
  },
  {
    id: 'attachment-segment-dropped',
    row: 22,
    title: 'a segment left out in the middle',
    code: 'asset_mismatch',
    behindKeys: true,
    run: stored((ciphertext) =>
      concat(ciphertext.subarray(0, HEADER + SEGMENT), ciphertext.subarray(HEADER + 2 * SEGMENT)),
    ),
  },
  {
    id: 'attachment-segment-repeated',
    row: 22,
    title: 'a segment repeated',
    code: 'aead',
    behindKeys: true,
    run: stored((ciphertext) =>
      concat(ciphertext.subarray(0, HEADER + SEGMENT), ciphertext.subarray(HEADER, ciphertext.length - SEGMENT)),
    ),
  },
  {
    id: 'attachment-cut-at-border',
    row: 22,
    title: 'a file cut between two segments',
    code: 'asset_mismatch',
    behindKeys: true,
    run: stored((ciphertext) => ciphertext.subarray(0, HEADER + 2 * SEGMENT)),
  },
  {
    id: 'attachment-extended',
    row: 22,
    title: 'more segments behind the last one, which says that it is not the last',
    code: 'asset_mismatch',
    behindKeys: true,
    run: stored((ciphertext) => {
      ciphertext.fill(0xff, HEADER + 2 * SEGMENT, HEADER + 2 * SEGMENT + 4)
      return concat(ciphertext, new Uint8Array(2 * SEGMENT))
    }),
  },
  {
    id: 'attachment-of-other',
    row: 22,
    title: 'the content of another attachment',
    code: 'aead',
    behindKeys: true,
    run: stored(async (_ciphertext, world) => (await otherAsset(world)).ciphertext),
  },
  {
    id: 'attachment-older-content',
    row: 6,
    title: 'the content of an older version of the same attachment',
    code: 'aead',
    behindKeys: true,
    run: async (world, bench) => {
      const older = await attached(world, utf8('first version'))
      const made = await sealAsset(world, utf8('other version'), world.actors.bob, { assetVersion: 2 })
      await attach(world, [made], world.actors.bob)
      return download(world, bench, { ...offer(made), ciphertext: older.ciphertext })
    },
  },
  {
    id: 'attachment-header-of-other-format',
    row: 18,
    title: 'a file that says it is encrypted with other parameters',
    code: 'alg_downgrade',
    behindKeys: true,
    run: stored((ciphertext) => {
      ciphertext[5] = 1
      return ciphertext
    }),
  },
]

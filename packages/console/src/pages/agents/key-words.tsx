import { keyWords } from '@strongroom/sdk'
import { CopyButton } from '../../ui/copy.tsx'
import { fingerprintOf, inFours } from './public-key.ts'

/** A key as people compare it: words at a glance, and the whole fingerprint, which is what counts. */
export function KeyPrint({ keyId }: { readonly keyId: string }) {
  const fingerprint = fingerprintOf(keyId)
  return (
    <div className="grid gap-0.5 border-l-2 border-edge pl-3">
      <strong className="text-dialog">{keyWords(keyId)}</strong>
      <span className="flex items-center gap-1">
        <code className="break-words">{inFours(fingerprint)}</code>
        <CopyButton text={fingerprint} label="Copy the fingerprint" />
      </span>
    </div>
  )
}

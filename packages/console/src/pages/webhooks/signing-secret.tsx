import { useEffect, useState } from 'react'
import { onLock } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyBlock } from '../../ui/copy.tsx'

// The secret that deliveries are verified with: shown once, and gone from the page with the dialog, the lock or the reload.

const shown = new Set<() => void>()
onLock(() => {
  for (const forget of shown) forget()
})

/** Gone at a lock even before the page is. */
export function useShownOnce(): readonly [string | undefined, (secret: string | undefined) => void] {
  const [secret, setSecret] = useState<string>()
  useEffect(() => {
    const forget = (): void => setSecret(undefined)
    shown.add(forget)
    return () => void shown.delete(forget)
  }, [])
  return [secret, setSecret]
}

const SNIPPET = `import { verifyWebhook } from '@strongroom/sdk'

// bytes: the body as it came, not parsed and written again
const event = await verifyWebhook(bytes, request.headers, process.env.WEBHOOK_SECRET)`

export const snippetFor = (publicKey: string | null): string =>
  publicKey === null ? SNIPPET : SNIPPET.replace('process.env.WEBHOOK_SECRET', `'${publicKey}'`)

export const VerifySnippet = ({ publicKey }: { readonly publicKey: string | null }) => (
  <CopyBlock label="Verify what comes" text={snippetFor(publicKey)} />
)

interface Members {
  readonly secret: string
  readonly says: string
  onDone(): void
}

export function SigningSecret({ secret, says, onDone }: Members) {
  return (
    <div className="grid gap-4 p-5">
      <p>{says} It is shown this once: put it where your receiver reads it.</p>
      <CopyBlock label="Signing secret" text={secret} />
      <VerifySnippet publicKey={null} />
      <div className="flex justify-end">
        <Button kind="primary" onClick={onDone}>
          I have kept it
        </Button>
      </div>
    </div>
  )
}

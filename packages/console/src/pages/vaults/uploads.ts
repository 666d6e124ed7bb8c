import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { onLock, useStrongroom } from '../../session/session.ts'
import { toast } from '../../ui/toast.tsx'

// Files on their way. They go on when somebody looks at something else in the page, who then hears what came of it; a lock ends them, since it
// says that no keys are left.

const underWay = new Set<AbortController>()
onLock(() => {
  for (const upload of underWay) upload.abort()
})
addEventListener('beforeunload', (event) => {
  if (underWay.size > 0) event.preventDefault()
})

export interface Sending {
  readonly name: string
  readonly sent: number
  readonly total: number
}

/** Which file was not sent, and what became of those after it. */
const notSent = (files: readonly File[], at: number): string => {
  const after = files.length - at - 1
  const others = after === 0 ? '' : after === 1 ? ', nor the file after it' : `, nor the ${after} files after it`
  return `${files[at]?.name} was not attached${others}.`
}

const sent = (files: readonly File[]): string =>
  `Attached ${files.length === 1 ? files[0]?.name : `${files.length} files`}`

/** Whether whoever began it still has it in sight. */
function useIsSeen() {
  const isSeen = useRef(true)
  useEffect(() => {
    isSeen.current = true
    return () => {
      isSeen.current = false
    }
  }, [])
  return isSeen
}

export function useUpload(vaultId: string, itemFor: () => Promise<string>) {
  const { attachments } = useStrongroom()
  const queries = useQueryClient()
  const [sending, setSending] = useState<Sending>()
  const [left, setLeft] = useState('')
  const current = useRef<AbortController>(undefined)
  const isSeen = useIsSeen()
  const send = async (files: readonly File[], { signal }: AbortController): Promise<void> => {
    setLeft('')
    const itemId = await itemFor()
    for (const [at, file] of files.entries()) {
      const onProgress = (bytes: number): void => setSending({ name: file.name, sent: bytes, total: file.size })
      onProgress(0)
      setLeft(notSent(files, at))
      await attachments.upload(vaultId, itemId, file, { onProgress, signal }).catch((error: unknown) => {
        if (!isSeen.current && !signal.aborted) toast(notSent(files, at))
        throw error
      })
    }
  }
  const upload = useMutation({
    mutationFn: async (files: readonly File[]): Promise<void> => {
      const controller = new AbortController()
      current.current = controller
      underWay.add(controller)
      await send(files, controller).finally(() => underWay.delete(controller))
      if (!isSeen.current) toast(sent(files))
    },
    onSettled: async () => {
      setSending(undefined)
      await queries.invalidateQueries({ queryKey: ['vault', vaultId] })
    },
  })
  return { upload, sending, left, stop: () => current.current?.abort() }
}

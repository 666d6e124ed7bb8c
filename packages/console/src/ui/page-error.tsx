import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ProblemNote } from './states.tsx'

/** In place of a page that could not be shown; the keys of the tab and everything around the page stay. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const again = () => {
    reset()
    void router.invalidate()
  }
  useEffect(() => {
    addEventListener('online', again)
    return () => removeEventListener('online', again)
  })
  return (
    <div className="max-w-2xl px-6 py-6">
      <ProblemNote error={error} onRetry={again} />
    </div>
  )
}

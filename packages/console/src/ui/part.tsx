import { useQuery } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import { Button } from './button.tsx'

// A part of the console that is loaded when somebody comes to it. What does not come can be asked for again: a page that breaks off there
// would be empty for good, and the keys of whoever has just signed in gone with it.

/** While it is on its way. */
export const Coming = () => (
  <div role="status" aria-label="Loading" className="fixed inset-x-0 top-0 h-0.5 overflow-hidden">
    <div className="h-full w-1/4 animate-[progress-line_1s_linear_infinite] bg-link" />
  </div>
)

interface Retry {
  onRetry(): void
}

const Missing = ({ onRetry }: Retry) => (
  <main className="mx-auto grid max-w-md gap-3 px-6 py-24">
    <h1 className="text-title">A part of the console could not be loaded</h1>
    <p className="text-ink-2">
      The server is away for a moment, or has a newer console. Try again; if that does not help, load the page again.
    </p>
    <div>
      <Button kind="primary" onClick={onRetry}>
        Try again
      </Button>
    </div>
  </main>
)

/** `Absent` stands for it while it does not come: a page of its own, unless something is to be seen beside it. */
export function part<Props extends object>(
  name: string,
  load: () => Promise<ComponentType<Props>>,
  Absent: ComponentType<Props & Retry> = Missing,
) {
  let loaded: ComponentType<Props> | undefined
  return function Part(props: Props) {
    const asked = useQuery({
      queryKey: ['part', name],
      queryFn: async () => {
        loaded = await load()
        return loaded
      },
      // What is there stays there, whoever clears the answers of a session.
      initialData: () => loaded,
      staleTime: Number.POSITIVE_INFINITY,
      networkMode: 'always',
    })
    const { data: Loaded } = asked
    if (Loaded) return <Loaded {...props} />
    return asked.isError && !asked.isFetching ? <Absent {...props} onRetry={() => void asked.refetch()} /> : <Coming />
  }
}

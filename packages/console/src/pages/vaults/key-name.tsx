import { keyWords } from '@strongroom/sdk'
import { MonoId } from '../../ui/copy.tsx'

/** The words people compare, and the whole id behind them. */
export function KeyName({ id }: { readonly id: string }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 sm:flex-nowrap">
      {keyWords(id)}
      <MonoId id={id} className="text-ink-3" />
    </span>
  )
}

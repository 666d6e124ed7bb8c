import { Link } from '@tanstack/react-router'
import { Empty } from './states.tsx'

export function NotFound() {
  return (
    <Empty title="There is no such page">
      <p>
        The address may be old. <Link to="/">Go to the overview.</Link>
      </p>
    </Empty>
  )
}

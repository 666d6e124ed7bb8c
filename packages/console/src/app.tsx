import { QueryClientProvider } from '@tanstack/react-query'
import { queries } from './queries.ts'
import { useAlarm } from './session/alarm.ts'
import { useIdleLock } from './session/idle.ts'
import { startSession, useSession } from './session/session.ts'
import { Button } from './ui/button.tsx'
import { Coming, part } from './ui/part.tsx'

const AlarmPage = part('alarm', async () => (await import('./pages/alarm/alarm-page.tsx')).AlarmPage)
const SetUpPage = part('set-up', async () => (await import('./pages/sign-in/set-up-page.tsx')).SetUpPage)
const JoinPage = part('join', async () => (await import('./pages/sign-in/join-page.tsx')).JoinPage)
const SignedIn = part('signed-in', async () => (await import('./signed-in.tsx')).SignedIn)
const SignInPage = part('sign-in', async () => (await import('./pages/sign-in/sign-in-page.tsx')).SignInPage)

function Unreachable() {
  return (
    <main className="mx-auto grid max-w-md gap-3 px-6 py-24">
      <h1 className="text-title">The server does not answer</h1>
      <p className="text-ink-2">Nothing is lost. Check that it is running, and the network between you and it.</p>
      <div>
        <Button kind="primary" onClick={() => void startSession()}>
          Try again
        </Button>
      </div>
    </main>
  )
}

/** A refused verification replaces everything; then who is here decides. */
function Inside() {
  const alarm = useAlarm()
  const session = useSession()
  useIdleLock(session.state === 'open')
  if (alarm) return <AlarmPage alarm={alarm} />
  switch (session.state) {
    case 'starting':
      return <Coming />
    case 'unreachable':
      return <Unreachable />
    case 'new-server':
      return <SetUpPage />
    case 'signed-out':
      return location.pathname === '/join' ? <JoinPage /> : <SignInPage session={session} />
    case 'open':
      return <SignedIn />
  }
}

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <Inside />
    </QueryClientProvider>
  )
}

import { type ReactNode, useEffect } from 'react'

/** The pages before anybody is signed in: one column, one thing to do. */
export function SignInCard({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Strongroom`
  }, [title])
  return (
    <div className="mx-auto grid min-h-screen max-w-md content-start gap-6 px-6 py-[10vh]">
      <p className="flex items-center gap-2 font-[650] tracking-tight">
        <img src="/seal.svg" alt="" width={20} height={20} />
        Strongroom
      </p>
      <main className="grid gap-5">
        <h1 className="text-title">{title}</h1>
        {children}
      </main>
      <footer className="border-t border-rule pt-3 text-label text-ink-3">
        Your passphrase and your keys stay in this browser. That holds as long as this server serves you the console it
        should: whoever cannot accept that uses the command line. <a href="/docs/explanation">Read why.</a>
      </footer>
    </div>
  )
}

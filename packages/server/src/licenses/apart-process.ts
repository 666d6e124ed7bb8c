import { carryOut, type Errand } from './errand.ts'

// The only process in which the secret of a licence is ever in the clear: it orders, seals, and answers with what is sealed. It has no
// database, no log and no output, and it does not live long. Started by `apart.ts`.

process.on('message', ({ id, ...errand }: Errand & { readonly id: number }) => {
  carryOut(errand).then(
    (answer) => process.send?.({ id, answer }),
    // What broke may quote what it broke on. That something did is enough: nobody knows how far it came.
    () => process.send?.({ id, answer: { kind: 'unknown', cause: 'sealing_failed' } }),
  )
})
// Whoever started us is gone or needs us no more.
process.once('disconnect', () => process.exit(0))
process.send?.({ ready: true })

import { registerHooks } from 'node:module'

// Loaded into a server before anything else, with CANARY_MUTANT: what is to be found must be found when a server does it wrong. It
// puts another module in the place of the way to the process that seals.
//
//   here  seals in the process of the server, as if there were no other
//   log   writes down in the log what it gets
//   heap  keeps what it gets, as a text

const mutant = process.env.CANARY_MUTANT
const own = new URL('./seal-here.ts', import.meta.url).href

if (mutant !== undefined)
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === './apart.ts' ? { url: `${own}?${mutant}`, shortCircuit: true } : next(specifier, context),
  })

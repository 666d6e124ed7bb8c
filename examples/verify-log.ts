// Verifies the transparency log of the organisation against everything this machine has seen of it before.
import { Strongroom, VerificationError } from '@strongroom/sdk'

const strongroom = Strongroom.fromEnv()
try {
  const report = await strongroom.transparency.verify({
    onStep: ({ step, detail }) => console.log(`✓ ${step}: ${detail}`),
  })
  for (const { keyId, logIndex } of report.newSigners) console.log(`new key ${keyId} in entry ${logIndex}`)
} catch (error) {
  if (!(error instanceof VerificationError)) throw error
  console.error(`✗ ${error.code}: ${error.message}`)
  console.error(`evidence: ${error.evidence}`)
  process.exitCode = 9
}

export { type Config, readConfig } from './config.ts'
export { StartError } from './errors.ts'
export { type RunningServer, start } from './start.ts'

export { createMixtureClient, type MixtureOptions, type ReferenceOutcome } from './mixture-client.js'

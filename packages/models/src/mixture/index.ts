export { createMixtureOfAgentsClient, type MixtureOfAgentsOptions, type ReferenceOutcome } from './mixture-client.js'

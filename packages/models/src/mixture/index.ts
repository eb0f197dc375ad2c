export { createMixtureClient, type MixtureOptions } from './mixture-client.js'

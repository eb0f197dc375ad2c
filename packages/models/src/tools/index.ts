export { createMixtureOfAgentsTool, type ModelsToolServices } from './mixture-of-agents.js'

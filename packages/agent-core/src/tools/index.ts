export { type AgentCoreToolServices, createDelegateTaskTool } from './delegate-task.js'

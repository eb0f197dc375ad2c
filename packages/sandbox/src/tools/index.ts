export { createExecuteCodeTool, type SandboxToolServices } from './execute-code.js'

export { type ConfinedModule, runConfined } from './run-confined.js'

export { openSingularityEnvironment, probeSingularity, type SingularityOptions } from './open-singularity.js'

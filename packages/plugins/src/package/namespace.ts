/** Where `plugin.json` and the folder of a plugin hold what is ours. */
export const NAMESPACE = 'io.github.hermes-agent'

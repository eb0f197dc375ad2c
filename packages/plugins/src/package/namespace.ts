/** Where `plugin.json` and the folder of a plugin hold what is ours. Apart from the manifest, which loads the library that checks it. */
export const NAMESPACE = 'io.github.hermes-agent'

/** A provider that other programs know and Hermes does not offer. */
interface AbsentProvider {
  readonly names: readonly string[]
  /** Why not, and what to do instead; continues a sentence about it. */
  readonly reason: string
}

/** Left out on purpose, so that whoever asks for one is told why. */
export const ABSENT_PROVIDERS: readonly AbsentProvider[] = Object.freeze([
  {
    names: ['copilot-acp', 'github-copilot-acp'],
    reason:
      'it is an agent of its own, whose tools would run past your permission rules and checkpoints. Use copilot, which asks the same models.',
  },
  {
    names: ['google-gemini-cli', 'gemini-cli', 'gemini-oauth'],
    reason:
      'it would sign in as another product, to a service made for that product. Use gemini with a key of Google AI Studio, or vertex.',
  },
  {
    names: ['claude-code'],
    reason: 'the sign-in of another product is neither read nor imitated. Use anthropic with a key.',
  },
  {
    names: ['actual', 'commandcode', 'router', 'meta-ai'],
    reason: 'its address is not known here. Give it as providers.NAME.base_url in config.yaml, with key_env.',
  },
])

/** Why a provider of this name is not offered, as the rest of a sentence; `null` when there is nothing to say. */
export function absentProvider(name: string): string | null {
  const wanted = name.trim().toLowerCase()
  return ABSENT_PROVIDERS.find(({ names }) => names.includes(wanted))?.reason ?? null
}

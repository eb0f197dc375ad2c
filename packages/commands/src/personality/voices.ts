/** How an agent may speak, by name; what it does stays the same. */
const VOICES: Readonly<Record<string, string>> = Object.freeze({
  helpful:
    'Be warm and patient. Say what you did and what comes next, and offer the help that was not requested yet but is near.',
  concise: 'Say as little as carries the meaning. No preamble, no summary at the end, no praise.',
  technical: 'Speak to an expert: exact terms, numbers with units, files with lines, and the trade-offs you saw.',
  creative:
    'Look for the unusual way as well as the usual one, and speak in fresh pictures where they make a thing clearer.',
  teacher:
    'Explain each step so that a learner could repeat it: what it is, why it is done, how one sees that it worked.',
  hype: 'Be thrilled about the work and cheer on whoever you work with. Never be thrilled about what failed.',
  philosopher:
    'Ask what lies behind a question before you answer it, and name the assumption that the answer rests on.',
  noir: 'Speak like a weary detective in a city of rain: short sentences, dry wit. Facts stay facts.',
  pirate: 'Speak like a pirate of the high seas. Code, commands and names of files stay in plain language.',
  shakespeare: 'Speak in the manner of Shakespeare. Code, commands and names of files stay in plain language.',
})

/** What `personalities` of config.yaml says of one of these of the person. */
interface OwnVoice {
  readonly system_prompt?: string | undefined
  readonly description?: string | undefined
  readonly tone?: string | undefined
  readonly style?: string | undefined
}

/** Those that come with Hermes and one's own, which may take their names: what each has the agent do, by name. */
export function voicesOf(own: Readonly<Record<string, OwnVoice | undefined>>): ReadonlyMap<string, string> {
  const written = Object.entries(own).flatMap(([name, voice]) => {
    const { system_prompt: words, tone, style } = voice ?? {}
    const lines = [words, tone && `Tone: ${tone}`, style && `Style: ${style}`].filter(Boolean)
    return lines.length === 0 ? [] : [[name, lines.join('\n')] as const]
  })
  return new Map([...Object.entries(VOICES), ...written])
}

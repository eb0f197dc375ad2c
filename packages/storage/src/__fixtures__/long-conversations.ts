// Long conversations of two people over months, each day of talk a session, and questions whose answer was said in one of them. Made from a
// seed, the same every time. Who, what and where come again in other sessions; questions use other forms of words, and words nobody said.

const NAMES = 'Mira Jonas Lea Tomas Ines Ravi Olga Pavel Nadia Bruno Selma Idris Greta Hugo Yara Felix'.split(' ')

/** Base, past, with -ing, what; then words that a question may have in place of the verb. */
const DEEDS = [
  ['paint', 'painted', 'painting', 'mural', 'decorate'],
  ['bake', 'baked', 'baking', 'lemon cake', 'make'],
  ['adopt', 'adopted', 'adopting', 'greyhound', 'get'],
  ['repair', 'repaired', 'repairing', 'bicycle', 'fix'],
  ['plant', 'planted', 'planting', 'cherry tree', 'grow'],
  ['visit', 'visited', 'visiting', 'lighthouse', 'see'],
  ['join', 'joined', 'joining', 'choir', 'enter'],
  ['buy', 'bought', 'buying', 'telescope', 'purchase'],
  ['carve', 'carved', 'carving', 'wooden owl', 'make'],
  ['knit', 'knitted', 'knitting', 'striped scarf', 'make'],
  ['borrow', 'borrowed', 'borrowing', 'violin', 'take'],
  ['climb', 'climbed', 'climbing', 'ridge', 'hike'],
  ['study', 'studied', 'studying', 'Portuguese', 'learn'],
  ['organize', 'organized', 'organizing', 'street market', 'run'],
  ['photograph', 'photographed', 'photographing', 'herons', 'shoot'],
  ['sell', 'sold', 'selling', 'camper van', 'trade'],
  ['build', 'built', 'building', 'treehouse', 'construct'],
  ['enter', 'entered', 'entering', 'poetry contest', 'try'],
  ['cook', 'cooked', 'cooking', 'pumpkin stew', 'prepare'],
  ['rescue', 'rescued', 'rescuing', 'hedgehog', 'save'],
  ['record', 'recorded', 'recording', 'podcast', 'produce'],
  ['renovate', 'renovated', 'renovating', 'kitchen', 'redo'],
  ['swim', 'swam', 'swimming', 'relay', 'race'],
  ['teach', 'taught', 'teaching', 'pottery class', 'give'],
] as const
const PLACES = 'harbour library cellar orchard school museum station riverside workshop monastery festival stadium'.split(' ')
const PEOPLE = ['sister', 'neighbour', 'old teacher', 'cousin', 'colleague', 'grandmother', 'roommate', 'nephew']
const REASONS = [
  'the anniversary',
  'a charity',
  'the new job',
  'the thunderstorm',
  'the wedding',
  'the exam',
  'the farewell party',
  'the school reunion',
]
const SMALL = [
  (name: string) => `Hey ${name}! Good to hear from you, how have you been?`,
  () => 'That sounds wonderful, tell me more about it when you have time.',
  () => 'I slept badly, work has been quite a lot this week, but things are getting better.',
  (name: string) => `Thanks, ${name}, that means a lot to me. Did you do anything fun at the weekend?`,
  () => 'The weather was awful again, so we stayed at home and watched an old film.',
  () => 'I keep telling myself that I should take more time for friends and family.',
  () => 'Wow, I did not know that! What was the best part for you?',
  (name: string) => `You always know what to say, ${name}. Talk to you soon and take care!`,
]

/** What one said to the other. */
interface Utterance {
  readonly speaker: string
  readonly isFirst: boolean
  readonly text: string
}

/** One day of talk. */
export interface Conversation {
  readonly id: string
  readonly startedAtMs: number
  readonly utterances: readonly Utterance[]
}

/** A question as a person types it, the words of it that carry something, and where it was answered. */
export interface Question {
  readonly typed: string
  readonly words: string
  readonly sessionId: string
}

const FUNCTION_WORDS = new Set(
  'when did does do who what where why how with for at the a an of in on was were is it her his their to and which that go there have had'.split(' '),
)

/** Conversations of `days` days each between `pairs` pairs, and their questions. */
export function longConversations({ pairs, days }: { readonly pairs: number; readonly days: number }): {
  readonly conversations: readonly Conversation[]
  readonly questions: readonly Question[]
} {
  const random = createRandom(11)
  const pick = <Item>(list: readonly Item[]): Item => list[Math.floor(random() * list.length)]!
  const conversations: Conversation[] = []
  const questions: Question[] = []
  const mentioned = new Set<string>()
  for (let pair = 0; pair < pairs; pair++) {
    const people = [NAMES[(pair * 2) % NAMES.length]!, NAMES[(pair * 2 + 1) % NAMES.length]!] as const
    for (let day = 0; day < days; day++) {
      const id = `talk-${pair}-${day}`
      const utterances: Utterance[] = []
      const say = (at: 0 | 1, text: string) => utterances.push({ speaker: people[at], isFirst: at === 0, text: `${people[at]}: ${text}` })
      const chat = () => say(utterances.length % 2 === 0 ? 0 : 1, pick(SMALL)(people[utterances.length % 2 === 0 ? 1 : 0]))
      for (let fact = 0; fact < 3; fact++) {
        for (let count = 2 + Math.floor(random() * 3); count > 0; count--) chat()
        const at = utterances.length % 2 === 0 ? 0 : 1
        const [deed, place, other, reason] = [pick(DEEDS), pick(PLACES), pick(PEOPLE), pick(REASONS)]
        const [base, past, doing, thing, instead] = deed
        // The same of the same person is told once, so that one session has the answer.
        const key = `${people[at]} ${thing}`
        if (mentioned.has(`${key} ${place}`) || mentioned.has(`${key} ${other}`)) continue
        mentioned.add(`${key} ${place}`).add(`${key} ${other}`)
        say(
          at,
          pick([
            `Guess what, I ${past} the ${thing} near the ${place}! My ${other} came along, it was because of ${reason}.`,
            `Big news: after ${reason} I ${past} a ${thing} together with my ${other}. We met at the ${place} for it.`,
            `I spent the whole day ${doing} the ${thing}, and my ${other} helped. It took place at the ${place}, for ${reason}.`,
          ]),
        )
        const name = people[at]
        const verb = random() < 0.25 ? instead : base
        const typed = pick([
          `When did ${name} ${verb} the ${thing} at the ${place}?`,
          `Who was with ${name} when they ${verb === base ? past : `${instead}d`} the ${thing} near the ${place}?`,
          `Why did ${name} and the ${other} ${verb} a ${thing}?`,
          `Where did ${name} go ${doing} the ${thing} with ${name}'s ${other}?`,
          `What did ${name}'s ${other} think of ${doing} the ${thing}, and was it for ${reason}?`,
        ])
        questions.push({ typed, words: contentWords(typed), sessionId: id })
        // Somebody else, and another day: what is thought about only.
        if (random() < 0.6) say(at === 0 ? 1 : 0, `I have always wanted to try ${pick(DEEDS)[2]}, maybe at the ${pick(PLACES)} one day.`)
        if (random() < 0.3) say(at, `And my ${pick(PEOPLE)} keeps asking about the ${pick(DEEDS)[3]}, but I have no time for that.`)
      }
      chat()
      conversations.push({ id, startedAtMs: 1_650_000_000_000 + (day * 5 + pair) * 86_400_000, utterances })
    }
  }
  return { conversations, questions }
}

function contentWords(question: string): string {
  return question
    .replaceAll(/[?,]|'s\b/g, '')
    .split(' ')
    .filter((word) => !FUNCTION_WORDS.has(word.toLowerCase()) && word !== 'they')
    .join(' ')
}

/** Numbers from 0 to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

// What happens in each scene, in words that hold for every program: a line, what the model does about it, and when the picture is taken.

const ANSWER = `## Three ways to sort

Insertion sort is **stable** and quick on short lists; \`merge\` needs more memory.

| algorithm | average | worst | stable |
|---|--:|--:|:-:|
| insertion | n² | n² | yes |
| merge | n log n | n log n | yes |
| quick | n log n | n² | no |

1. Take insertion for short lists.
2. Take merge where order among equals matters.

\`\`\`ts
// The shortest of them.
export function insert(list: number[], value: number): number[] {
  const at = list.findIndex((other) => other > value)
  return at < 0 ? [...list, value] : list.toSpliced(at, 0, value)
}
\`\`\`

> Measure before you choose.`

const LOG = Array.from(
  { length: 60 },
  (_, index) => `2026-11-28 12:00:${String(index).padStart(2, '0')} request ${index + 1} took ${(index * 37) % 400} ms`,
)

/** Files of the folder that all work in. */
export const FILES = {
  'price.js': `export function price(items) {
  let sum = 0
  for (const item of items) sum += item.price
  return sum
}

export function format(sum) {
  return sum.toFixed(2) + ' EUR'
}
`,
  'tax.js': 'export const RATE = 0.19\n\nexport function withTax(sum) {\n  return sum * (1 + RATE)\n}\n',
  'check.sh':
    'for i in $(seq 1 50); do echo "checking rule $i of 50 ... ok"; done\necho "rule 51: expected 119.00, got 100.00" >&2\nexit 3\n',
}

/**
 * `says` is typed and sent; `pastes` comes with it, unsent; `keys` are pressed then. `answers` are the model's, each
 * `{ text, calls: [{ run, leaves } | { read } | { edit, from, to }], stalls }`; `leaves` says why a command leaves the workspace. The picture is taken once `shows` is on the screen and that has come to rest.
 * A scene with `opens` types what a program has for it.
 */
export const SCENES = [
  { name: 'start', title: 'Start' },
  {
    name: 'answer',
    title: 'An answer in Markdown with a table and code',
    says: 'How do I choose a sort?',
    answers: [{ text: ANSWER }],
    shows: /Measure before you choose/,
  },
  {
    name: 'failure',
    title: 'A failing command with 50 lines of output',
    says: 'Run the checks.',
    answers: [
      { text: 'First the checks.', calls: [{ run: 'sh check.sh' }] },
      { text: 'Rule 51 fails: the tax is missing.' },
    ],
    shows: /the tax is missing/,
  },
  {
    name: 'edit',
    title: 'An edit with its diff',
    says: 'Add the tax to the price.',
    answers: [
      {
        text: 'The sum goes through withTax.',
        calls: [{ edit: 'price.js', from: '  return sum\n', to: '  return withTax(sum)\n' }],
      },
      { text: 'The price has the tax now.' },
    ],
    shows: /has the tax now/,
  },
  {
    name: 'reads',
    title: 'Two reads side by side',
    says: 'What do price.js and tax.js do?',
    answers: [{ calls: [{ read: 'price.js' }, { read: 'tax.js' }] }, { text: 'One sums up, the other adds 19 %.' }],
    shows: /the other adds/,
  },
  {
    name: 'approval',
    title: 'A question for approval',
    says: 'Remove the build folder and push.',
    answers: [
      {
        text: 'I remove it first.',
        calls: [{ run: 'rm -rf build && git push --force origin main', leaves: 'May I push?' }],
      },
      { text: 'Done.' },
    ],
    shows: /rm -rf build/,
  },
  { name: 'picker', title: 'Choosing a model', opens: 'picker' },
  { name: 'paste', title: 'A long paste', pastes: LOG.join('\n'), says: 'Which of these is slow? ', isUnsent: true },
  {
    name: 'stop',
    title: 'An answer that is stopped',
    says: 'Tell me about sorting.',
    answers: [
      {
        text: 'Sorting puts things in order. Most of the time a computer sorts, it sorts what was nearly',
        stalls: true,
      },
    ],
    keys: { after: /sorts what/, press: ['Escape'] },
  },
  {
    name: 'status',
    title: 'Status and cost',
    says: 'How do I choose a sort?',
    answers: [{ text: 'By what is to be sorted.' }],
    shows: /By what is/,
    opens: 'status',
  },
]

// node rounds.mjs: an agent whose model follows only what stands in its context does ten tasks of five kinds twice, with skills and without, and
// prints how many calls each round took, and what share of what tools gave was text of skills.
const { openLearner } = await import('../../packages/runtime/src/skills/__fixtures__/learner.ts')

async function measured(config) {
  const learner = await openLearner(config)
  try {
    const [first, second] = [await learner.round('first'), await learner.round('second')]
    const stats = config === undefined ? await learner.typed('skills', 'stats') : ''
    return { first, second, share: Number(/Skills are ([\d.]+) % of what tools gave/.exec(stats)?.[1]) }
  } finally {
    await learner.close()
  }
}

const withSkills = await measured()
const without = await measured({ agent: { disabled_toolsets: ['skills'] } })
process.stdout.write(JSON.stringify({ withSkills, without }))

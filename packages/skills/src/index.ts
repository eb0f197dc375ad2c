export { personalPlaces } from './index/places.js'
export { installedIn, skillPrograms } from './install/skill-programs.js'
export { type HomeSkills, openSkills } from './open-skills.js'
export type { SkillSettings, SkillsHome } from './skills-home.js'

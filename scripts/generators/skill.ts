import { read } from '../repository.ts'
import type { Generator } from './generator.ts'

const FRONT_MATTER = `---
name: campaign-client
description: >-
  Rules and map of the npm package campaign-client. Use it for code that calls the campaign engagement service, awards XP,
  receives its webhook messages, or tests any of these.
---

`

/** Writes AGENTS.md as a skill, which coding assistants find in installed packages. */
export const skill: Generator = {
  name: 'skill',
  generate() {
    const text = read('AGENTS.md').replace('inside this package', 'below node_modules/campaign-client/')
    return new Map([['skills/campaign-client/SKILL.md', FRONT_MATTER + text]])
  },
}

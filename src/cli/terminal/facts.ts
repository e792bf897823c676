import { printableLine } from '../../text/printable.ts'
import { wrap } from './display-width.ts'
import type { Screen } from './screen.ts'

/** A label and its text. */
export type Fact = readonly [label: string, text: string]

const LABEL_WIDTH = 10

/** Facts, one below the other. @param indent columns before each */
export const renderFacts = (facts: readonly Fact[], indent: number, screen: Screen): string =>
  facts
    .map(([label, text]) => {
      const below = indent + LABEL_WIDTH + 1
      const head = `${' '.repeat(indent)}${screen.colours.dim(label.padEnd(LABEL_WIDTH))}`
      return `${head} ${wrap(printableLine(text), below, screen)}\n`
    })
    .join('')

/** Sentences as a list. */
export const renderBullets = (sentences: readonly string[], screen: Screen): string =>
  sentences.map((text) => `- ${wrap(printableLine(text), 2, screen)}\n`).join('')

/** What needs attention, if anything does. */
export const renderAttention = (sentences: readonly string[], screen: Screen): string =>
  sentences.length === 0 ? '' : `${screen.colours.bold('Needs attention')}\n${renderBullets(sentences, screen)}`

/** Colours that a skin can choose. */
export type Colour = 'accent' | 'notice' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan'

/** How a person wants the screen to look. */
export interface Look {
  /** What the terminal is told for a colour, as parameters of SGR; empty paints nothing. Those left out are as usual. */
  readonly colours: Readonly<Partial<Record<Colour, string>>>
  /** The sign before the line. */
  readonly prompt: string
  /** Words stand for signs, for whoever has the screen read aloud. */
  readonly isSpoken: boolean
}

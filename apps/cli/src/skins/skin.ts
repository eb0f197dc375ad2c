import type { Colour } from '../render/look.js'

/** How the screen of a conversation is painted. What a skin does not name is as in `default`. */
export interface Skin {
  readonly description: string
  readonly colours: Readonly<Partial<Record<Colour, string>>>
  /** The sign before the line. */
  readonly prompt: string
}

const NONE = { accent: '', notice: '', red: '', green: '', yellow: '', blue: '', magenta: '', cyan: '' }

/** Skins that come with Hermes, in the 16 colours of the terminal. */
export const SKINS: Readonly<Record<string, Skin>> = {
  default: { description: 'blue and magenta, on light and on dark', colours: {}, prompt: '>' },
  mono: { description: 'no colours; bold, dim and underlined stay', colours: NONE, prompt: '>' },
  ares: { description: 'red and yellow', colours: { accent: '91', notice: '33' }, prompt: '>' },
  slate: { description: 'cyan and blue, calm', colours: { accent: '36', notice: '94' }, prompt: '>' },
  poseidon: { description: 'bright cyan and blue, for dark', colours: { accent: '96', notice: '94' }, prompt: '>' },
  sisyphus: {
    description: 'grey, with yellow where something is asked',
    colours: { accent: '90', notice: '33' },
    prompt: '>',
  },
  charizard: { description: 'yellow and bright red, for dark', colours: { accent: '33', notice: '91' }, prompt: '>' },
  daylight: {
    description: 'dark colours, for a white terminal',
    colours: { accent: '34', notice: '35', yellow: '35', blue: '34', cyan: '34' },
    prompt: '>',
  },
  'warm-lightmode': {
    description: 'dark red and magenta, for a white terminal',
    colours: { accent: '31', notice: '35', yellow: '31', blue: '34', cyan: '34' },
    prompt: '>',
  },
}

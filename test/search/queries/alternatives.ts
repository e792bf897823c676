import { answer, bare, type Scene } from '../corpus/planted.ts'

/** `OR` and parentheses. */
export const alternatives: readonly Scene[] = [
  {
    docs: {
      one: 'The saffron theme is ready.',
      two: answer('The turmeric theme is not.'),
      near: 'The theme is neither.',
    },
    asks: [
      { q: 'saffron OR turmeric', want: 'one two', never: 'near', isAny: true },
      { q: '(saffron OR turmeric) ready', want: 'one', never: 'two near', isAny: true, plain: 'saffron turmeric' },
    ],
  },
  {
    docs: {
      lock: bare('cardamom waits for the lock'),
      latch: bare('cardamom waits for the latch'),
      none: bare('cardamom waits for nothing'),
    },
    asks: [
      { q: 'cardamom (lock OR latch)', want: 'lock latch', never: 'none', plain: 'cardamom' },
      { q: 'cardamom waits -(lock OR latch)', want: 'none', never: 'lock latch', plain: 'cardamom waits' },
    ],
  },
  {
    docs: {
      phrase: bare('nutmeg is ground before use'),
      other: bare('whole nutmeg is grated after use'),
      none: bare('nutmeg is used, ground or not, before noon'),
    },
    asks: [
      {
        q: '"nutmeg is ground" OR "grated after"',
        want: 'phrase other',
        never: 'none',
        plain: 'nutmeg grated',
        isAny: true,
      },
      { q: 'nutmeg ("ground before" OR grated)', want: 'phrase other', never: 'none', plain: 'nutmeg' },
    ],
  },
  {
    docs: {
      camel: 'vanillaPodCount is zero.',
      snake: answer('`vanilla_bean_count` is twelve.'),
      near: 'The vanilla count is one.',
    },
    asks: [
      {
        q: 'vanillaPodCount OR vanilla_bean_count',
        want: 'camel snake',
        never: 'near',
        isAny: true,
        plain: 'vanillaPodCount vanilla_bean_count',
      },
      { q: 'vanilla (pod OR bean)', want: 'camel snake', never: 'near', plain: 'vanilla' },
    ],
  },
]

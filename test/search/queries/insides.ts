import { answer, code, type Scene } from '../corpus/planted.ts'

/** `*inside*`: characters anywhere in a word. */
export const insides: readonly Scene[] = [
  {
    docs: {
      one: 'electroencephalogram.ts is generated.',
      two: answer('The encephalitis dataset is not ours.'),
      near: 'cephalopods are the mascots.',
    },
    asks: [
      { q: '*enceph*', want: 'one two', never: 'near' },
      { q: '*cephalogr*', want: 'one', never: 'two near' },
    ],
  },
  {
    docs: {
      compound: 'Die Grundstücksverkehrsgenehmigung fehlt im Formular.',
      other: answer('Verkehrsgenehmigungen werden jährlich erneuert.'),
      near: 'Der Verkehr ist genehmigt.',
    },
    asks: [
      { q: '*verkehrsgenehmigung*', want: 'compound other', never: 'near' },
      { q: '*stücksverkehr*', want: 'compound', never: 'other near' },
    ],
  },
  {
    docs: {
      hash: 'The blob aa91fe77d0c3b2 is missing from the bucket.',
      other: answer('aa91fe77d0c3b2 was deleted by the sweeper.'),
      near: 'aa91fe78d0c3b2 is there.',
    },
    asks: [
      { q: '*fe77d0*', want: 'hash other', never: 'near' },
      { q: '*77d0c3b2', want: 'hash other', never: 'near' },
    ],
  },
  {
    docs: {
      lower: 'The unsubscribelink is broken in dark mode.',
      camel: code('ts', 'mail/footer.ts', 'const unsubscribeLinkText = t("leave")'),
      near: 'Please subscribe to the list.',
    },
    asks: [
      { q: '*scribelink*', want: 'lower camel', never: 'near' },
      { q: '*subscribel*', want: 'lower camel', never: 'near' },
    ],
  },
  {
    docs: {
      version: 'Pin it to 4.17.21-rc3build88.',
      other: answer('rc3build88 was pulled from the feed.'),
      near: 'rc3build98 is fine.',
    },
    asks: [
      { q: '*3build88*', want: 'version other', never: 'near' },
      { q: '*c3build8*', want: 'version other', never: 'near' },
    ],
  },
]

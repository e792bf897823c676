import { answer, bare, code, many, thought, tool, type Planted, type Scene } from '../corpus/planted.ts'

/** All documents of a scene match. One is wanted; the others have more occurrences, are shorter or more numerous. */
export const ranking: readonly Scene[] = [
  {
    docs: {
      asked: bare(
        'Since Friday the toucan scheduler loses jobs around midnight, and only on the second node. What has changed there?',
      ),
      ...many('log', 12, (at) =>
        tool(
          'run_terminal_cmd',
          { command: `tail -n ${at} app.log` },
          { output: `${'scheduler=toucan jobs=0 nothing to do\n'.repeat(30)}${'x'.repeat(at)}` },
        ),
      ),
    },
    asks: [
      { q: 'toucan scheduler jobs', want: 'asked', best: 'asked' },
      { q: 'toucan jobs', want: 'asked', best: 'asked' },
    ],
  },
  {
    docs: {
      whole: answer(
        'The ibisIndex is rebuilt at night, which takes four minutes on the large tenant and blocks the writers for all of that time.',
      ),
      ...many('longer', 10, (at) =>
        code('ts', `src/ibis/part${at}.ts`, `ibisIndexBuilder(${at}); ibisIndexBuilder(); ibisIndexReader()`),
      ),
    },
    asks: [
      { q: 'ibisIndex', want: 'whole', best: 'whole' },
      { q: 'ibis_index', want: 'whole', best: 'whole' },
    ],
  },
  {
    docs: {
      together: bare(
        'With the defaults of the vendor we send far too many requests in the morning, and the support of the vendor says that a stork batch size of five hundred is what all of their larger customers use without any trouble so far.',
      ),
      ...many('apart', 10, (at) => bare(`A stork of size ${at}, in a batch.`)),
    },
    asks: [
      { q: 'stork batch size', want: 'together', best: 'together' },
      { q: 'stork batch', want: 'together', best: 'together' },
    ],
  },
  {
    docs: {
      title: { text: 'Have a look at the last four tickets.', title: 'Puffin invoice rounding' },
      ...many('apart', 8, (at) =>
        answer(
          `The invoice ${at} is printed by the puffin job, and after it there is another round of rounding up addresses in the list of customers that have moved.`,
        ),
      ),
    },
    asks: [
      { q: 'puffin invoice rounding', want: 'title', best: 'title', isOfChat: true },
      { q: 'invoice rounding puffin', want: 'title', best: 'title', isOfChat: true },
    ],
  },
  {
    docs: {
      ordered: bare('How do we migrate tern to wren without a day of downtime for the customers in the east?'),
      ...many('turned', 8, (at) => bare(`We migrate wren to tern, step ${at}.`)),
    },
    asks: [
      { q: 'migrate tern to wren', want: 'ordered', best: 'ordered' },
      { q: 'tern to wren', want: 'ordered', best: 'ordered' },
    ],
  },
  {
    docs: {
      said: answer(
        'The lapwing quota is exceeded because each preview counts as a page, and there are forty previews for each page that somebody opens.',
      ),
      ...many('mused', 8, (at) => thought(`lapwing quota exceeded? Perhaps lapwing quota ${at}.`)),
      ...many('printed', 4, (at) =>
        tool('run_terminal_cmd', { command: `curl quota/${at}` }, { output: 'lapwing quota exceeded' }),
      ),
    },
    asks: [
      { q: 'lapwing quota exceeded', want: 'said', best: 'said' },
      { q: 'lapwing quota', want: 'said', best: 'said' },
    ],
  },
  {
    docs: {
      told: answer(
        'The curlew setup is two commands: install the runner, then register it with the token from the settings page. Both need to be run as the service account.',
      ),
      ...many('attached', 10, (at): Planted => ({
        text: `And number ${at}?`,
        attached: ['docs/curlew/setup.md'],
        isBare: true,
      })),
    },
    asks: [
      { q: 'curlew setup', want: 'told', best: 'told' },
      { q: 'curlew setup runner', want: 'told', best: 'told' },
    ],
  },
  {
    docs: {
      focused: bare('egret pagination: does the cursor survive a delete?'),
      ...many('log', 10, (at) =>
        tool(
          'run_terminal_cmd',
          { command: `make ${at}` },
          { output: `egret ok\n${'info: page\n'.repeat(20)}pagination ok\ncursor ok ${at}` },
        ),
      ),
    },
    asks: [
      { q: 'egret pagination cursor', want: 'focused', best: 'focused' },
      { q: 'egret cursor', want: 'focused', best: 'focused' },
    ],
  },
  {
    docs: {
      together: bare('上线之前要不要先做白鹭缓存预热,不然第一批用户会等很久,而且监控会报警,值班的同事也会被叫醒。'),
      ...many('apart', 8, (at) => bare(`预热第${at}台白鹭,缓存关掉。`)),
    },
    asks: [
      { q: '白鹭缓存 预热', want: 'together', best: 'together' },
      { q: '白鹭 缓存 预热', want: 'together', best: 'together' },
    ],
  },
  {
    docs: {
      newest: bare('avocet restarts in a loop', { at: '2026-06-20T10:00:00Z' }),
      ...many('older', 6, (at) => bare('avocet restarts in a loop', { at: `2025-0${at + 1}-20T10:00:00Z` })),
    },
    asks: [
      { q: 'avocet restarts loop', want: 'newest', best: 'newest' },
      { q: 'avocet', want: 'newest', best: 'newest' },
    ],
  },
]

import { answer, bare, tool, type Scene } from '../corpus/planted.ts'

/** Several plain words: a message about them comes before one that only contains them. */
export const words: readonly Scene[] = [
  {
    docs: {
      about: bare('The login rate limiter blocks the whole office behind one address.'),
      apart: bare('After login the dashboard shows the exchange rate, and below it a limiter for the size of a page.'),
      long: tool(
        'run_terminal_cmd',
        { command: 'cat nginx.conf' },
        { output: 'location /login { }\nmap $x $rate { }\n# office limiter' },
      ),
      near: 'The login rate is falling.',
    },
    asks: [
      { q: 'login rate limiter', want: 'about apart long', best: 'about', never: 'near' },
      { q: 'login limiter office', want: 'about long', best: 'about', never: 'near apart' },
    ],
  },
  {
    docs: {
      about: bare('How do I stream a parquet file to the browser without reading it whole?'),
      reply: bare('Stream the parquet file by row group; the browser asks for ranges.', { role: 'assistant' }),
      apart: bare(
        'The browser test writes a file; the stream of events is read by another one, and parquet is not used.',
      ),
      near: 'A parquet file cannot be opened in the browser.',
    },
    asks: [
      { q: 'stream parquet file browser', want: 'about reply apart', never: 'near' },
      { q: 'parquet row group ranges', want: 'reply', never: 'about apart near' },
    ],
  },
  {
    docs: {
      about: bare('Garbage collection pauses of the tracker reach two seconds.'),
      turned: bare('The tracker pauses, and the collection of stamps is garbage.'),
      near: 'Garbage collection is off in the tracker.',
    },
    asks: [
      { q: 'garbage collection pauses tracker', want: 'about turned', best: 'about', never: 'near' },
      { q: 'tracker two seconds', want: 'about', never: 'turned near' },
    ],
  },
  {
    docs: {
      once: bare(
        'Somebody mentioned the peregrine scheduler in passing, between the lunch order, the broken lamp and the parking permits for the summer.',
      ),
      thick: bare('peregrine scheduler: the peregrine scheduler starves jobs'),
      near: 'The peregrine calendar is fine.',
    },
    asks: [
      { q: 'peregrine scheduler', want: 'thick once', best: 'thick', never: 'near' },
      { q: 'peregrine scheduler starves', want: 'thick', never: 'once near' },
    ],
  },
  {
    docs: {
      user: bare('Our kestrel webhook retries forever.'),
      output: tool(
        'run_terminal_cmd',
        { command: 'kubectl logs kestrel' },
        { output: `webhook retries 1\n${'info: tick\n'.repeat(60)}webhook retries 2` },
      ),
      near: 'Our kestrel webhook never retried.',
    },
    asks: [
      { q: 'kestrel webhook retries', want: 'user output', best: 'user', never: 'near' },
      { q: 'kestrel webhook forever', want: 'user', never: 'output near' },
    ],
  },
  {
    docs: {
      german: bare('Der Bussard-Import verliert die Nachkommastellen der Beträge.'),
      apart: bare('Die Beträge stimmen. Ein Import lief, und der Bussard steht im Logo.'),
      reply: answer('Nachkommastellen gehen beim Parsen der Beträge verloren.'),
    },
    asks: [
      { q: 'Bussard Import Beträge', want: 'german apart', best: 'german', never: 'reply' },
      { q: 'Nachkommastellen Beträge', want: 'german reply', never: 'apart' },
    ],
  },
  {
    docs: {
      near: bare('The merlin pool leaks a connection for each timeout.'),
      far: bare(
        'There is a pool in the garden of the merlin hotel. The train has no connection on Sundays, and a timeout of ten minutes leaks into the next hour.',
      ),
      less: 'The merlin pool leaks.',
    },
    asks: [
      { q: 'merlin pool leaks connection timeout', want: 'near far', best: 'near', never: 'less' },
      { q: 'merlin connection timeout', want: 'near far', best: 'near', never: 'less' },
    ],
  },
  {
    docs: {
      mixed: bare('falcon 服务的超时是 30 秒'),
      other: bare('falcon 服务没有超时'),
      near: 'falcon has a timeout of 30 seconds',
    },
    asks: [
      { q: 'falcon 超时', want: 'mixed other', never: 'near' },
      { q: 'falcon 超时 30', want: 'mixed', never: 'other near' },
    ],
  },
]

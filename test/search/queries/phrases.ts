import { answer, bare, type Scene } from '../corpus/planted.ts'

/** Quoted words must be adjacent and in order. */
export const phrases: readonly Scene[] = [
  {
    docs: {
      exact: 'We need an optimistic lock on the basket row.',
      said: answer('An optimistic lock costs one column.'),
      turned: 'The lock, optimistic or not, must go.',
      apart: 'An optimistic reader takes no lock.',
    },
    asks: [
      { q: '"optimistic lock"', want: 'exact said', never: 'turned apart' },
      { q: '“optimistic lock”', want: 'exact said', never: 'turned apart' },
      { q: 'optimistic lock', want: 'exact said turned apart' },
    ],
  },
  {
    docs: {
      exact: bare('dead letters pile up in the dead letter queue of the mailer'),
      turned: bare('the queue holds a letter that is long dead'),
      said: answer('Drain the dead-letter-queue first.'),
    },
    asks: [
      { q: '"dead letter queue"', want: 'exact said', never: 'turned' },
      { q: '"queue holds a letter"', want: 'turned', never: 'exact said' },
    ],
  },
  {
    docs: {
      flag: 'sort -k 2 -n gives the wrong order for negative gusts.',
      other: 'sort -n -r is enough for gusts.',
    },
    asks: [
      { q: 'sort "-k" gusts', want: 'flag', never: 'other' },
      { q: '"sort -k 2"', want: 'flag', never: 'other' },
    ],
  },
  {
    docs: {
      exact: '事务隔离级别应该是可重复读。',
      turned: '可重复读之外,级别和事务都要隔离。',
      spaced: answer('把 事务 隔离 级别 写进配置。'),
    },
    asks: [
      { q: '"事务隔离级别"', want: 'exact', never: 'turned' },
      { q: '"可重复读"', want: 'exact turned', never: 'spaced' },
    ],
  },
  {
    docs: {
      exact: 'The tide table is off by one hour after the clock change.',
      near: 'The tide of tickets fills the table.',
      said: answer('Off by one hour: the tide table is in local time.'),
    },
    asks: [
      { q: '"off by one hour"', want: 'exact said', never: 'near' },
      { q: '"tide table" clock', want: 'exact', never: 'near' },
    ],
  },
  {
    docs: {
      exact: 'select sum(fare) over (partition by depot) is what I want',
      near: 'select fare, sum over all, no partition, by and large per depot',
    },
    asks: [
      { q: '"partition by depot"', want: 'exact', never: 'near' },
      { q: '"sum(fare) over"', want: 'exact', never: 'near' },
    ],
  },
]

import { answer, code, type Scene } from '../corpus/planted.ts'

/** Korean particles are attached to the word. A query for the word means the word with any particle. */
export const korean: readonly Scene[] = [
  {
    docs: {
      object: '데이터베이스를 다시 만들어 주세요.',
      topic: answer('데이터베이스는 이미 백업했습니다.'),
      place: '데이터베이스에서 오류가 납니다',
      compound: '시계열데이터베이스 비교표가 필요해요.',
      near: '데이터를 베이스 채널로 보냅니다.',
    },
    asks: [
      { q: '데이터베이스', want: 'object topic place compound', never: 'near' },
      { q: '데이터베이스 백업', want: 'topic', never: 'object place' },
    ],
  },
  {
    docs: {
      subject: '로그인이 두 번 호출됩니다.',
      object: answer('로그인을 한 번만 부르도록 고쳤습니다.'),
      code: code('ts', 'src/i18n/ko.ts', "export const ko = { signIn: '로그인하기' }"),
      near: '로그 파일의 인코딩이 깨져요.',
    },
    asks: [
      { q: '로그인', want: 'subject object code', never: 'near' },
      { q: '로그인하기', want: 'code', never: 'subject object' },
    ],
  },
  {
    docs: {
      object: '결제를 취소하면 금액이 남아요.',
      with: answer('결제와 환불을 나누었습니다.'),
      of: '결제의 상태',
      near: '결과 제출 기한이 지났습니다.',
    },
    asks: [
      { q: '결제', want: 'object with of', never: 'near' },
      { q: '결제 환불', want: 'with', never: 'object' },
    ],
  },
  {
    docs: {
      subject: '스케줄러가 멈췄습니다.',
      by: answer('스케줄러로 옮기면 됩니다.'),
      near: '스케줄 표를 러너에게 보냈습니다.',
    },
    asks: [{ q: '스케줄러', want: 'subject by', never: 'near' }],
  },
  {
    docs: {
      on: '캐시에 오래된 값이 남습니다.',
      all: answer('캐시까지 모두 지우세요.'),
      near: '캐스팅 시간이 깁니다.',
    },
    asks: [{ q: '캐시', want: 'on all', never: 'near' }],
  },
  {
    docs: {
      decomposed: '번역기를 붙여 주세요.'.normalize('NFD'),
      plain: answer('번역기는 설정에 있습니다.'),
      near: '번호 역순으로 기록합니다.',
    },
    asks: [
      { q: '번역기', want: 'decomposed plain', never: 'near' },
      { q: '번역', want: 'decomposed plain', never: 'near' },
    ],
  },
]

import { answer, bare, code, type Scene } from '../corpus/planted.ts'

/** Umlauts, accents and compounds, typed as people type them. */
export const accents: readonly Scene[] = [
  {
    docs: {
      umlaut: 'Die Überweisung wird doppelt gebucht.',
      plain: answer('Der Typ heißt jetzt Uberweisung, ohne Punkte.'),
      upper: 'FEHLER: ÜBERWEISUNG ABGELEHNT',
      compound: 'Die Sammelüberweisung läuft nachts.',
      near: 'Die Unterweisung der Kollegen ist am Montag.',
    },
    asks: [
      { q: 'Überweisung', want: 'umlaut plain upper', never: 'near' },
      { q: 'uberweisung', want: 'umlaut plain upper', never: 'near' },
      { q: 'Sammelüberweisung', want: 'compound', never: 'umlaut near' },
      { q: '*überweisung', want: 'umlaut plain upper compound', never: 'near' },
    ],
  },
  {
    docs: {
      sharp: 'Die Straße fehlt in der Lieferadresse.',
      double: answer('Das Feld heißt strasse, alles klein.'),
      upper: 'STRASSE UND HAUSNUMMER',
      near: 'Das Straussenei im Logo ist zu groß.',
    },
    asks: [
      { q: 'Straße', want: 'sharp double upper', never: 'near' },
      { q: 'strasse', want: 'sharp double upper', never: 'near' },
      { q: 'STRASSE', want: 'sharp double upper', never: 'near' },
    ],
  },
  {
    docs: {
      accent: 'The naïve approach re-reads the résumé on each keystroke.',
      plain: answer('A naive loop over each resume is enough for a thousand rows.'),
      decomposed: bare('naïve résumé parsing is back'.normalize('NFD')),
      near: 'Please resume the native build.',
    },
    asks: [
      { q: 'naive resume', want: 'accent plain decomposed', never: 'near' },
      { q: 'naïve résumé', want: 'accent plain decomposed', never: 'near' },
    ],
  },
  {
    docs: {
      polish: 'Łódź shows up as L??d? in the export.',
      plain: answer('The fixture spells it Lodz.'),
      near: 'The lodge has no house number.',
    },
    asks: [
      { q: 'lodz', want: 'polish plain', never: 'near' },
      { q: 'Łódź', want: 'polish plain', never: 'near' },
    ],
  },
  {
    docs: {
      compound: 'Der Rechnungsempfängerwechsel braucht eine Freigabe.',
      parts: answer('Der Rechnungsempfänger steht in der Kopfzeile.'),
      near: 'Der Warenempfänger steht darunter.',
    },
    asks: [
      { q: 'Rechnungsempfänger', want: 'parts' },
      { q: 'Rechnungsempfänger*', want: 'parts compound', never: 'near' },
      { q: 'rechnungsempfanger*', want: 'parts compound', never: 'near' },
    ],
  },
  {
    docs: {
      french: 'Le théâtre à côté a déjà réservé.',
      plain: answer('theatre cote in ASCII, for the slug.'),
      near: 'La théière est à droite.',
    },
    asks: [
      { q: 'theatre', want: 'french plain', never: 'near' },
      { q: 'théâtre côté', want: 'french plain', never: 'near' },
    ],
  },
  {
    docs: {
      code: code('java', 'src/Prüfer.java', 'boolean prüfeGültigkeit(Beleg beleg) { return true; }'),
      spaced: 'Bitte prüfe Gültigkeit und Betrag.',
      near: 'Die Gültigkeitsprüfung ist abgeschaltet.',
    },
    asks: [
      { q: 'prüfeGültigkeit', want: 'code spaced', never: 'near' },
      { q: 'prufe_gultigkeit', want: 'code spaced', never: 'near' },
    ],
  },
  {
    docs: {
      nordic: 'Smørrebrød is shown as Sm rrebr d in the menu.',
      plain: answer('The slug is smorrebrod.'),
      near: 'The smorgasbord page is another one.',
    },
    asks: [
      { q: 'smorrebrod', want: 'nordic plain', never: 'near' },
      { q: 'Smørrebrød', want: 'nordic plain', never: 'near' },
    ],
  },
]

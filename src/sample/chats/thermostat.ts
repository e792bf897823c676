import { edit, failed, lines, read, run, say, think, user, web } from '../script.ts'
import type { Thread } from '../script.ts'

interface Sensor {
  readonly part: string
  readonly address: string
  readonly symptom: string
  readonly wait: string
}

function busTimeout({ part, address, symptom, wait }: Sensor): Thread {
  const driver = `src/drivers/${part.toLowerCase()}.rs`
  return {
    project: 'thermostat',
    title: `${part}: ${symptom}`,
    mode: 'agent',
    steps: [
      user(
        `The ${part} at ${address} gives "${symptom}" about once an hour, and the display then shows --.- until the next reset.`,
        lines(driver, 'let raw = self.i2c.write_read(self.address, &[0xF3], &mut buf)?;'),
      ),
      web(
        `${part} I2C clock stretching conversion time`,
        `The ${part} needs up to ${wait} for a conversion at full resolution; reads before that are not acknowledged.`,
      ),
      think(
        `write_read reads at once. At low temperature the conversion takes longer, hence once an hour, when the heating pauses.`,
        6,
      ),
      say(
        `The data sheet asks for ${wait} between command and read. The driver reads at once and lives on the clock being stretched, which the HAL gives up after 10 ms.`,
      ),
      edit(
        driver,
        '-let raw = self.i2c.write_read(self.address, &[0xF3], &mut buf)?;',
        '+self.i2c.write(self.address, &[0xF3])?;',
        `+self.delay.delay_ms(${wait.replace(/\D/g, '')});`,
        '+self.i2c.read(self.address, &mut buf)?;',
      ),
      failed(
        run(
          'cargo build --release --target thumbv7em-none-eabihf',
          'error[E0599]: no method named `delay_ms` found for struct `SysDelay`',
        ),
        'Command failed with exit code 101',
      ),
      edit(driver, '+use embedded_hal::delay::DelayNs;'),
      run(
        'cargo build --release --target thumbv7em-none-eabihf',
        '    Finished `release` profile [optimized] target(s) in 14.02s',
      ),
      say('It builds; `DelayNs` was not in scope. Flash used: 61,312 of 131,072 bytes.'),
      user('Ran over night without a fault. 👍'),
    ],
  }
}

const watchdog: Thread = {
  project: 'thermostat',
  title: 'Watchdog resets during the firmware update',
  mode: 'agent',
  steps: [
    user('During an update over the air the watchdog resets the board at 62 %, always at the same block.'),
    read(
      'src/ota.rs',
      'for block in image.chunks(4096) {\n    flash.erase(page)?;\n    flash.write(page, block)?;\n    page += 1;\n}\n',
    ),
    think(
      'Page 31 begins the second bank: an erase of a 128 kB sector takes up to 2 s, and the watchdog waits 1.6 s.',
      8,
    ),
    say(
      'From page 31 on the sectors are 128 kB, and one erase takes up to 2 s, longer than the watchdog’s 1.6 s. Feed it between erase and write, and give it 4 s for the time of the update.',
    ),
    edit(
      'src/ota.rs',
      ' for block in image.chunks(4096) {',
      '+    watchdog.feed();',
      '     flash.erase(page)?;',
      '+    watchdog.feed();',
    ),
    run('cargo test -p ota-sim', 'test second_bank_survives ... ok\n\ntest result: ok. 9 passed; 0 failed'),
    say('The simulator, with real erase times, survives the second bank now.'),
  ],
}

/** German: umlauts, compounds and code in between. */
const kalibrierung: Thread = {
  project: 'thermostat',
  title: 'Kalibrierung des Temperaturfühlers',
  mode: 'agent',
  steps: [
    user(
      'Der Temperaturfühler zeigt im Schaltschrank zwei Grad zu viel an, vermutlich wegen der Eigenerwärmung. Können wir das in der Firmware ausgleichen?',
    ),
    think(
      'Eigenerwärmung ist proportional zur Verlustleistung. Ein fester Abzug reicht nicht, denn mit Hintergrundbeleuchtung ist er größer.',
      10,
    ),
    say(
      'Ja, aber nicht mit einem festen Wert: Die Erwärmung hängt von der Hintergrundbeleuchtung ab. Ich schlage eine Kennlinie mit zwei Stützstellen vor, die beim Abgleich gemessen werden.',
    ),
    edit(
      'src/calibration.rs',
      '+/// Übertemperatur in Zehntelgrad, gemessen nach 30 min bei 21 °C.',
      '+pub const OFFSET: [(u8, i16); 2] = [(0, 8), (100, 21)];',
    ),
    run('cargo test calibration', 'test kennlinie_ist_stetig ... ok\ntest result: ok. 3 passed; 0 failed'),
    user('Größer als 2,1 K wird es nicht?'),
    say(
      'Bei voller Helligkeit sind es 2,1 K, gemessen am Prüfstand. Der Rest über ±0,3 K kommt vom Fühler selbst; dafür gibt es den Einpunktabgleich im Menü „Werkseinstellungen“.',
    ),
  ],
}

const uebergabe: Thread = {
  project: 'thermostat',
  title: 'Fehlermeldung verständlicher machen',
  mode: 'edit',
  steps: [
    user(
      'Die Fehlermeldung „E-17“ versteht niemand. Bitte überall durch einen Satz ersetzen, der sagt, was zu tun ist.',
    ),
    edit(
      'src/ui/messages_de.rs',
      '-    17 => "E-17",',
      '+    17 => "Fühler nicht gefunden. Bitte den Stecker prüfen.",',
    ),
    say('Ersetzt. Auf dem kleinen Display läuft der Satz durch, da er länger als 16 Zeichen ist.'),
  ],
}

export const thermostatChats: readonly Thread[] = [
  busTimeout({ part: 'SHT31', address: '0x44', symptom: 'I2C timeout', wait: '15 ms' }),
  busTimeout({ part: 'BME280', address: '0x76', symptom: 'NACK on address', wait: '113 ms' }),
  watchdog,
  kalibrierung,
  uebergabe,
]

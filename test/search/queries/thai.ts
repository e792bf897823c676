import { answer, bare, type Scene } from '../corpus/planted.ts'

/** Thai has no spaces between words. */
export const thai: readonly Scene[] = [
  {
    docs: {
      inside: 'ระบบฐานข้อมูลล่มเมื่อคืนนี้',
      end: answer('ควรสำรองฐานข้อมูล'),
      near: 'ข้อมูลบนฐานเสาไม่ตรงกัน',
    },
    asks: [
      { q: 'ฐานข้อมูล', want: 'inside end', never: 'near' },
      { q: 'ฐานข้อมูลล่ม', want: 'inside', never: 'end near' },
    ],
  },
  {
    docs: {
      inside: 'ลืมรหัสผ่านแล้วเข้าสู่ระบบไม่ได้',
      mixed: answer('เพิ่มช่องรหัสผ่านใน LoginForm แล้ว'),
      near: 'ผ่านรหัสสินค้าไปที่คลัง',
    },
    asks: [
      { q: 'รหัสผ่าน', want: 'inside mixed', never: 'near' },
      { q: 'รหัสผ่าน LoginForm', want: 'mixed', never: 'inside' },
    ],
  },
  {
    docs: {
      inside: 'ช่วยแก้ใบเสร็จรับเงินให้พิมพ์ภาษาไทยได้',
      other: bare('ใบเสร็จรับเงิน'),
      near: 'เงินที่รับใบเดียวเสร็จแล้ว',
    },
    asks: [
      { q: 'ใบเสร็จ', want: 'inside other', never: 'near' },
      { q: 'ใบเสร็จรับเงิน', want: 'inside other', never: 'near' },
    ],
  },
  {
    docs: {
      inside: 'หน่วยความจำรั่วในตัวประมวลผลภาพ',
      other: answer('ตรวจหน่วยความจำด้วยเครื่องมือนี้'),
      near: 'จำนวนหน่วยของความยาวผิด',
    },
    asks: [
      { q: 'หน่วยความจำ', want: 'inside other', never: 'near' },
      { q: 'หน่วยความจำรั่ว', want: 'inside', never: 'other near' },
    ],
  },
  {
    docs: {
      inside: 'แผนที่ดาวเทียมโหลดช้ามาก',
      other: answer('ภาพดาวเทียมถูกเก็บไว้แล้ว'),
      near: 'ดาวน์โหลดเทียมไม่มีผล',
    },
    asks: [{ q: 'ดาวเทียม', want: 'inside other', never: 'near' }],
  },
  {
    docs: {
      inside: 'ค่าธรรมเนียมการโอนคำนวณผิด',
      other: answer('ปัดเศษค่าธรรมเนียมก่อนบันทึก'),
      near: 'ค่าเฉลี่ยและธรรมชาติของข้อมูล',
    },
    asks: [
      { q: 'ค่าธรรมเนียม', want: 'inside other', never: 'near' },
      { q: 'ธรรมเนียม', want: 'inside other', never: 'near' },
    ],
  },
]

"""The width and height of a text in Calibri, the font of the workbooks, without having the font.

The widths are those of Carlito 1.104 (Debian's fonts-crosextra-carlito 20220224, SIL Open Font License), a
font designed with Calibri's metrics: of each character, in 2048ths of the font size. Read from the font
files on 2026-11-23. A character that is not listed counts as wide as the size.
"""
EM = 2048
PIXELS_PER_POINT = 96 / 72
LINE = 1.2207  # line height relative to the size: ascent, descent and gap, (1536 + 512 + 452) / 2048

REGULAR = {
    452: "'", 463: ' ', 470: 'ilìíîï', 490: 'j', 504: '¹', 511: ',‘’', 516: 'IÌÍÎÏ', 517: '.·', 548: ':;',
    596: '`', 598: '´', 621: '()', 625: 'f', 627: '-', 628: '[]', 629: '¸', 644: '{}', 653: 'J', 667: '!¡',
    685: '³', 686: 't', 688: '²', 694: '°', 714: 'r', 791: '/\\', 801: 's', 804: '¨', 807: '¯', 809: 'z',
    821: '"', 824: 'ª', 857: '“”', 861: 'L', 865: 'º', 866: 'cç', 887: 'x', 925: 'v', 927: 'yýÿ', 931: 'k',
    941: 'FS', 943: '|', 949: '?¿', 959: 'Z', 964: 'g', 981: 'aàáâãäå', 998: 'TYÝ', 1000: 'EÈÉÊË', 1019: 'eèéêë',
    1020: '#*+<=>^_~¢¤¦§¬±×÷–−≤≥', 1038: '$0123456789£¥®€', 1049: '«»', 1058: 'PÞ', 1063: 'X', 1064: 'K',
    1076: 'bdhnpquðñùúûüþ', 1080: 'oßòóôõö', 1084: 'ø', 1092: 'CÇ', 1112: 'R', 1114: 'B', 1126: 'µ', 1162: 'V',
    1185: 'AÀÁÂÃÄÅ', 1200: '¶', 1260: 'D', 1276: 'H', 1279: 'Ð', 1292: 'G', 1303: '¼', 1314: 'UÙÚÛÜ', 1322: 'NÑ',
    1356: 'OÒÓÔÕÖ', 1359: 'Ø', 1375: '½', 1378: 'Q', 1383: '¾', 1397: '&', 1414: '…', 1464: '%w', 1563: 'Æ',
    1583: 'æ', 1636: 'm', 1709: '©', 1751: 'M', 1822: 'W', 1831: '@', 1854: '—→',
}
BOLD = {
    463: ' ', 478: "'", 503: 'ilìíîï', 517: '¹', 523: 'j', 528: ',‘’', 546: 'IÌÍÎÏ', 547: '.', 548: '·',
    565: ':;', 615: '`', 616: '´', 621: '¸', 627: '-', 638: '()', 648: 'f', 665: '[]', 667: '!¡', 678: 'J',
    688: '³', 692: '²', 701: '°', 704: '{}', 710: 't', 728: 'r', 799: '¯', 814: 'z', 817: 's', 849: '¨', 852: 'ª',
    857: 'cç', 866: 'L', 880: '/\\', 891: 'º“”', 898: '"', 940: 'F', 941: 'x', 949: '?¿', 968: 'S', 969: 'v',
    970: 'yýÿ', 971: 'g', 973: '|', 979: 'Z', 983: 'k', 999: 'EÈÉÊË', 1011: 'aàáâãäå', 1014: 'T',
    1020: '#*+<=>^_~¢¤¦§¬±×÷–−≤≥', 1031: 'eèéêë', 1038: '$0123456789£¥®€', 1064: 'YÝ', 1084: 'CÇ', 1090: 'PÞ',
    1099: 'bdhnpquðñùúûüþ', 1101: 'oòóôõö', 1103: '«»', 1114: 'ø', 1120: 'K', 1128: 'X', 1136: 'ß', 1148: 'B',
    1153: 'R', 1154: 'µ', 1211: 'V', 1224: '¶', 1241: 'AÀÁÂÃÄÅ', 1291: 'D', 1292: 'H', 1305: 'G', 1309: 'Ð',
    1337: 'UÙÚÛÜ', 1347: '¼', 1349: 'NÑ', 1385: 'OÒÓÔÕÖ', 1394: 'Ø', 1405: 'Q', 1415: '½', 1437: '¾', 1443: '&',
    1457: '…', 1493: '%', 1526: 'w', 1587: 'æ', 1588: 'Æ', 1666: 'm', 1709: '©', 1790: 'M', 1840: '@', 1854: '—→',
    1856: 'W',
}
ITALIC = {
    452: "'", 463: ' ', 470: 'ilìíîï', 490: 'j', 504: '¹', 511: ',‘’', 516: 'IÌÍÎÏ', 517: '.·', 548: ':;',
    596: '`', 598: '´', 621: '()', 625: 'f', 627: '-', 628: '[]', 629: '¸', 644: '{}', 653: 'J', 667: '!¡',
    685: '³', 686: 't', 688: '²', 694: '°', 702: 'r', 787: '\\', 794: '/', 797: 's', 804: '¨', 807: '¯', 809: 'z',
    821: '"', 852: 'cç', 857: '“”', 861: 'L', 865: 'º', 882: 'ª', 887: 'x', 913: 'v', 916: 'yýÿ', 926: 'S',
    931: 'k', 941: 'F', 943: '|', 949: '?¿', 959: 'Z', 978: 'eèéêë', 998: 'TYÝ', 1000: 'EÈÉÊË',
    1020: '#*+<=>^_~¢¤¦§¬±×÷–−≤≥', 1038: '$0123456789£¥®€', 1049: '«»', 1051: 'oòóôõö',
    1053: 'abdghnpquàáâãäåñùúûüþ', 1058: 'PÞ', 1063: 'X', 1064: 'K', 1070: 'CÇ', 1076: 'ð', 1080: 'ß', 1084: 'ø',
    1102: 'µ', 1112: 'R', 1114: 'B', 1162: 'V', 1185: 'AÀÁÂÃÄÅ', 1200: '¶', 1260: 'D', 1276: 'H', 1279: 'Ð',
    1292: 'G', 1303: '¼', 1314: 'UÙÚÛÜ', 1320: 'NÑ', 1340: 'OÒÓÔÕÖ', 1347: 'Ø', 1360: 'Q', 1375: '½', 1383: '¾',
    1397: '&', 1413: '…', 1464: '%w', 1545: 'æ', 1563: 'Æ', 1620: 'm', 1709: '©', 1751: 'M', 1823: 'W', 1831: '@',
    1854: '—→',
}


def by_character(widths):
    return {character: width for width, characters in widths.items() for character in characters}


FACES = {face: by_character(widths) for face, widths in
         (('regular', REGULAR), ('bold', BOLD), ('italic', ITALIC))}


def text_width(text, size=11.0, face='regular'):
    """In pixels at 96 per inch, which is 100 % zoom."""
    widths = FACES[face]
    return sum(widths.get(character, EM) for character in text) / EM * size * PIXELS_PER_POINT


def lines_of(text, width, size=11.0, face='regular'):
    """The number of lines of a text that is wrapped between words at that many pixels."""
    blank, lines = text_width(' ', size, face), 0
    for paragraph in text.split('\n'):
        used, lines = 0.0, lines + 1
        for word in paragraph.split(' '):
            length = text_width(word, size, face)
            if used and used + blank + length > width:
                used, lines = 0.0, lines + 1
            lines += int(length // width) if length > width else 0  # a word that is too long is broken anywhere
            used += length + (blank if used else 0)
    return lines

"""Small corpora of notes in German and Japanese, made of sentences written for this: 600 notes about ten things.

    python bench/quality/notes.py german > german.jsonl
    python bench/quality/notes.py japanese > japanese.jsonl

Each note has three sentences about one thing and one about another, and so a known topic (`topics`).
"""

import json
import random
import sys

GERMAN = {
    "Küche": [
        "Die Suppe kocht mit Zwiebeln, Möhren und Kartoffeln im großen Topf.",
        "Für den Teig braucht man Mehl, Butter, Zucker und drei Eier.",
        "Das Brot backt eine Stunde im heißen Ofen.",
        "Die Köchin schneidet Zwiebeln und röstet sie in Butter.",
        "Zum Kuchen gibt es Sahne und frische Erdbeeren.",
        "Der Teig ruht unter einem Tuch, bis der Ofen heiß ist.",
    ],
    "Fußball": [
        "Der Torwart hielt den Elfmeter in der letzten Minute.",
        "Die Mannschaft gewann das Spiel mit zwei Toren Vorsprung.",
        "Der Trainer wechselte nach der Pause den Stürmer aus.",
        "Im Stadion sangen die Fans bis zum Abpfiff.",
        "Der Stürmer schoss drei Tore und die Mannschaft stieg auf.",
        "Der Schiedsrichter gab nach dem Foul einen Elfmeter.",
    ],
    "Eisenbahn": [
        "Der Zug nach Hamburg hält heute nicht am Bahnhof.",
        "Die Lokomotive zieht zwölf Waggons über die Brücke.",
        "Am Bahnsteig warten Reisende auf den verspäteten Zug.",
        "Der Schaffner prüft die Fahrkarten im letzten Waggon.",
        "Wegen einer Weiche auf der Strecke fahren die Züge langsamer.",
        "Vom Bahnhof fährt jede Stunde ein Zug über die Grenze.",
    ],
    "Garten": [
        "Im Beet wachsen Tulpen, Rosen und ein paar Tomaten.",
        "Der Gärtner schneidet die Hecke und harkt das Laub.",
        "Rosen brauchen Sonne, Wasser und guten Boden.",
        "Im Frühling kommen Samen in die Erde des Beetes.",
        "Schnecken fressen die Blätter der jungen Pflanzen.",
        "Die Pflanzen im Gewächshaus brauchen jeden Tag Wasser.",
    ],
    "Gericht": [
        "Der Richter verkündete das Urteil am Nachmittag.",
        "Der Anwalt rief einen Zeugen in den Saal.",
        "Die Klage wurde vom Gericht abgewiesen.",
        "Der Angeklagte schwieg vor dem Richter zu der Anklage.",
        "Gegen das Urteil legte der Anwalt Berufung ein.",
        "Das Gericht hörte einen Zeugen und einen Gutachter.",
    ],
    "Musik": [
        "Das Orchester probt die Sinfonie im Konzertsaal.",
        "Die Geigerin stimmt ihre Geige vor dem Konzert.",
        "Der Chor singt ein Lied aus dem Norden.",
        "Am Klavier begleitet sie den Chor bei der Probe.",
        "Der Dirigent hebt den Taktstock und das Orchester beginnt.",
        "Nach dem Konzert klatschte der Saal für die Geigerin.",
    ],
    "Medizin": [
        "Die Ärztin untersucht den Patienten in der Praxis.",
        "Das Fieber sank nach zwei Tagen mit dem Medikament.",
        "Im Krankenhaus fehlen Betten für neue Patienten.",
        "Der Arzt verschreibt ein Medikament gegen Husten.",
        "Nach der Operation blieb der Patient eine Woche im Krankenhaus.",
        "Die Impfung schützt Kinder vor hohem Fieber.",
    ],
    "Wetter": [
        "Am Morgen liegt Nebel über dem Tal, später scheint die Sonne.",
        "Der Sturm bringt Regen und kalte Luft von der Küste.",
        "In den Bergen fällt Schnee bis in tiefe Lagen.",
        "Gewitter und Regen ziehen am Abend nach Osten.",
        "Die Temperatur steigt, und der Schnee im Tal schmilzt.",
        "Der Wind dreht, und Wolken bringen Regen an die Küste.",
    ],
    "Schule": [
        "Die Lehrerin erklärt der Klasse die Aufgabe an der Tafel.",
        "Die Schüler schreiben am Montag eine Prüfung in Mathematik.",
        "In der Pause spielen die Schüler auf dem Schulhof.",
        "Der Lehrer liest der Klasse eine Geschichte vor.",
        "Das Zeugnis der Schülerin war besser als im letzten Jahr.",
        "Vor der Prüfung übt die Klasse noch eine Aufgabe.",
    ],
    "Sterne": [
        "Das Teleskop zeigt die Ringe des Planeten Saturn.",
        "Die Rakete bringt einen Satelliten in die Umlaufbahn.",
        "Astronomen entdecken einen Planeten um einen fernen Stern.",
        "Der Komet zieht mit hellem Schweif an der Sonne vorbei.",
        "Auf der Umlaufbahn kreist der Satellit um den Mond.",
        "Durch das Teleskop sieht man Krater auf dem Mond.",
    ],
}

JAPANESE = {
    "料理": [
        "鍋に玉ねぎと人参を入れて味噌汁を作る。",
        "小麦粉と卵と砂糖を混ぜて生地を作る。",
        "魚を焼いて醤油と大根おろしで食べる。",
        "台所で野菜を切って鍋で煮る。",
        "炊きたてのご飯に味噌汁と焼き魚を添える。",
        "卵と野菜を炒めて醤油で味を付ける。",
    ],
    "野球": [
        "投手が最後の打者を三振に取って試合が終わった。",
        "打者は満塁で本塁打を打った。",
        "監督は七回に投手を交代させた。",
        "球場の観客は選手に拍手を送った。",
        "選手たちは試合の前に球場で練習する。",
        "九回の裏に本塁打が出て試合に勝った。",
    ],
    "鉄道": [
        "電車は雪のために駅で止まっている。",
        "新幹線の切符を駅の窓口で買った。",
        "車掌が切符を確認しながら車両を歩く。",
        "線路の工事で電車が遅れている。",
        "終電の車両には乗客が少なかった。",
        "駅のホームで新幹線を待つ乗客が並ぶ。",
    ],
    "天気": [
        "明日は雨が降り、風が強くなる予報です。",
        "台風が近づいて海岸では波が高い。",
        "朝は霧が出て、昼から晴れるでしょう。",
        "気温が下がり、山では雪が降った。",
        "台風の雨と風で海岸の道が閉じた。",
        "予報では気温が上がり、晴れる日が続く。",
    ],
    "病院": [
        "医者は患者に薬を出した。",
        "熱と咳が続くので病院へ行った。",
        "手術の後、患者は一週間入院した。",
        "看護師が患者の体温を測る。",
        "病院で検査を受けて薬をもらった。",
        "医者は手術の前に検査の結果を説明した。",
    ],
    "学校": [
        "先生は黒板に数学の問題を書いた。",
        "生徒は教室で試験を受けている。",
        "宿題を忘れた生徒は先生に叱られた。",
        "教室の窓から校庭が見える。",
        "試験の前に数学の宿題が出た。",
        "卒業式で生徒は先生に花を贈った。",
    ],
    "音楽": [
        "楽団は音楽会で交響曲を演奏した。",
        "彼女はピアノを弾きながら歌う。",
        "指揮者が手を上げると演奏が始まった。",
        "合唱団は古い歌を練習している。",
        "ピアノと楽団の演奏に拍手が起きた。",
        "歌手は音楽会で新しい歌を歌った。",
    ],
    "宇宙": [
        "望遠鏡で土星の輪を観測した。",
        "ロケットが人工衛星を軌道に乗せた。",
        "天文学者は新しい惑星を発見した。",
        "彗星が太陽の近くを通り過ぎる。",
        "人工衛星は月の軌道を回っている。",
        "望遠鏡で惑星と彗星を観測する。",
    ],
    "裁判": [
        "裁判官は午後に判決を言い渡した。",
        "弁護士は証人に質問した。",
        "被告は無罪を主張している。",
        "検察は判決を不服として控訴した。",
        "法廷で証人が被告を見たと述べた。",
        "弁護士は裁判官に証拠を示した。",
    ],
    "庭": [
        "庭に花の種を蒔いて水をやる。",
        "松の枝を切って落ち葉を掃く。",
        "春になると桜と梅の花が咲く。",
        "植木鉢の土を替えて肥料を入れる。",
        "梅の枝に鳥が来て花をつつく。",
        "苗に水と肥料をやって育てる。",
    ],
}


def notes(themes: dict[str, list[str]], seed: int, count: int = 600) -> list[dict[str, object]]:
    """Notes whose order and sentences depend on the seed alone."""
    draw, names = random.Random(seed), list(themes)
    found = []
    for number in range(count):
        topic, other = draw.sample(names, 2)
        sentences = [*draw.sample(themes[topic], 3), draw.choice(themes[other])]
        draw.shuffle(sentences)
        found.append({"id": str(number), "topics": [topic], "text": " ".join(sentences)})
    return found


if __name__ == "__main__":
    for note in notes({"german": GERMAN, "japanese": JAPANESE}[sys.argv[1]], 0):
        print(json.dumps(note, ensure_ascii=False))
